/* SPDX-License-Identifier: BSD-2-Clause
 * A process of its own that unmounts for the driver. */
#include "unmounter.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper.h"
#include "mounts.h"
#include "say.h"

/* Bind mounts that one call takes down; more than anyone makes. */
#define PLACES_MAX 1000

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
	const struct place *mount = arg;
	unsigned char byte;
	ssize_t n;

	for (;;) {
		n = read(fd, &byte, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n != 1)
			return;
		byte = unmount(mount);
		if (write(fd, &byte, 1) != 1)
			return;
	}
}

int unmounter_start(struct unmounter *u, const char *mountpoint, bool say)
{
	struct place mount;

	u->fd = -1;
	if (!place_at(mountpoint, &mount))
		return -ENOENT;
	place_free(&mount);
	u->fd = helper_start(&u->pid, "zrecord-unmount", say, serve, &mount);
	return u->fd < 0 ? u->fd : 0;
}

bool unmounter_unmount(struct unmounter *u)
{
	unsigned char byte = 0;
	bool asked = write(u->fd, &byte, 1) == 1;
	ssize_t n;

	do {
		n = asked ? read(u->fd, &byte, 1) : 0;
	} while (n < 0 && errno == EINTR);
	if (n == 1)
		return byte;
	say("cannot unmount: the process that does so is gone");
	return true;
}

void unmounter_stop(struct unmounter *u)
{
	if (u->fd < 0)
		return;
	close(u->fd);
	u->fd = -1;
	while (waitpid(u->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
