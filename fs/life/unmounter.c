/* SPDX-License-Identifier: BSD-2-Clause
 * A process of its own that unmounts for the driver. */
#include "unmounter.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/helper.h"
#include "base/say.h"
#include "mounts.h"

/* Bind mounts that one call takes down; more than anyone makes. */
#define PLACES_MAX 1000
/* fusermount3 may have to be started. */
#define PATIENCE_MS 5000

/* It must be on top where it is, or another one would be unmounted. */
static bool unmount_at(const struct place *mount, const char *path)
{
	struct place top;
	bool ours = place_at(path, &top) && top.major == mount->major &&
		    top.minor == mount->minor;

	if (ours)
		place_unmount(path);
	else
		say("cannot unmount %s: another file system is mounted over "
		    "it",
		    path);
	place_free(&top);
	return ours;
}

/* The mount may have been moved with a directory above it, or be gone; parts
 * of it may be bound elsewhere, and the kernel ends the connection with the
 * last of all. Returns whether there is nothing left to unmount. */
static bool unmount(const struct place *mount)
{
	struct place ours, before = { .path = NULL };
	bool done = true;

	for (int i = 0; done && i < PLACES_MAX; i++) {
		if (!place_of(mount->major, mount->minor, &ours))
			break;
		/* Still there: it could not be unmounted. */
		done = !(before.path && !strcmp(before.path, ours.path)) &&
		       unmount_at(mount, ours.path);
		place_free(&before);
		before = ours;
	}
	place_free(&before);
	return done;
}

static void serve(int fd, void *arg)
{
	struct place mount = { .path = NULL };
	unsigned device[2];
	unsigned char done;
	ssize_t n;

	(void)arg;
	for (;;) {
		n = read(fd, device, sizeof(device));
		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(device))
			return;
		mount.major = device[0];
		mount.minor = device[1];
		done = unmount(&mount);
		if (write(fd, &done, 1) != 1)
			return;
	}
}

int unmounter_start(struct unmounter *u, bool say)
{
	pid_t pid;

	u->known = false;
	u->fd = helper_start(&pid, "zrecord-unmount", say, serve, NULL);
	return u->fd < 0 ? u->fd : 0;
}

int unmounter_know(struct unmounter *u, const char *mountpoint)
{
	struct place mount;

	if (!place_at(mountpoint, &mount))
		return -ENOENT;
	u->device[0] = mount.major;
	u->device[1] = mount.minor;
	u->known = true;
	place_free(&mount);
	return 0;
}

bool unmounter_unmount(struct unmounter *u)
{
	struct pollfd answer = { .fd = u->fd, .events = POLLIN };
	unsigned char done;

	if (write(u->fd, u->device, sizeof(u->device)) == sizeof(u->device) &&
	    poll(&answer, 1, PATIENCE_MS) == 1 && read(u->fd, &done, 1) == 1)
		return done;
	say("cannot unmount: the process that does so does not answer");
	return true;
}

/* It ends by itself, also if it is stopped now. */
void unmounter_stop(struct unmounter *u)
{
	if (u->fd >= 0)
		close(u->fd);
	u->fd = -1;
}
