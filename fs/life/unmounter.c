/* SPDX-License-Identifier: BSD-2-Clause
 * A process of its own that unmounts for the driver. */
#include "unmounter.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/helper.h"
#include "base/say.h"
#include "mounts.h"

/* Bind mounts that one call takes down; more than anyone makes. */
#define PLACES_MAX 1000
/* fusermount3 may have to be started. */
#define PATIENCE_MS 5000
/* How long the fusermount3 of a driver that died may go on mounting. */
#define LATE_MS 500
#define LATE_STEP_MS 20

/* From the driver. */
struct request {
	enum {
		REQUEST_UNMOUNT,
		REQUEST_LEAVE, /* see unmounter_leave(); no answer */
	} kind;
	unsigned device[2];
};

/* It must be on top where it is, or another one would be unmounted. */
static enum unmounted unmount_at(const struct place *mount, const char *path)
{
	struct place top;
	bool ours = !place_at(path, &top) && top.major == mount->major &&
		    top.minor == mount->minor;
	int rc = ours ? place_unmount(path) : 0;

	place_free(&top);
	if (!ours)
		return UNMOUNT_COVERED;
	if (!rc)
		return UNMOUNT_DONE;
	say("cannot unmount %s: %s", path,
	    rc == -ENOENT ? "fusermount3 is not found" : strerror(-rc));
	return UNMOUNT_REFUSED;
}

/* The mount may have been moved with a directory above it, or be gone; parts
 * of it may be bound elsewhere, and the kernel ends the connection with the
 * last of all. */
static enum unmounted unmount(const struct request *r, const char *mountpoint,
			      bool quiet)
{
	struct place ours, before = { .path = NULL };
	enum unmounted done = UNMOUNT_DONE;

	for (int i = 0; done == UNMOUNT_DONE && i < PLACES_MAX; i++) {
		if (place_of(r->device[0], r->device[1], mountpoint, &ours)) {
			place_free(&ours);
			break;
		}
		if (before.path && !strcmp(before.path, ours.path)) {
			say("cannot unmount %s: fusermount3 failed", ours.path);
			done = UNMOUNT_REFUSED;
		} else {
			done = unmount_at(&ours, ours.path);
		}
		if (done == UNMOUNT_COVERED && !quiet)
			say("cannot unmount %s: another file system is mounted "
			    "over it",
			    ours.path);
		place_free(&before);
		before = ours;
	}
	place_free(&before);
	return done;
}

/* The driver died while it was being mounted, perhaps by a fusermount3 that
 * lives on. */
static void take_away(const char *mountpoint)
{
	const struct timespec pause = { .tv_nsec = LATE_STEP_MS * 1000000 };

	for (int ms = 0; ms < LATE_MS; ms += LATE_STEP_MS) {
		if (place_is_dead(mountpoint)) {
			(void)place_unmount(mountpoint);
			return;
		}
		nanosleep(&pause, NULL);
	}
}

static void wait_and_unmount(const struct request *r, const char *mountpoint)
{
	int watch = place_watch();

	while (watch >= 0 && unmount(r, mountpoint, true) == UNMOUNT_COVERED)
		place_changed(watch);
}

static void serve(int fd, void *arg)
{
	const struct unmounter *u = arg;
	struct request asked, last = { .kind = REQUEST_LEAVE };
	enum unmounted done = UNMOUNT_DONE;
	bool leave = false;
	ssize_t n;

	for (;;) {
		n = read(fd, &asked, sizeof(asked));
		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(asked))
			break;
		leave = true;
		if (asked.kind == REQUEST_LEAVE)
			continue;
		last = asked;
		done = unmount(&last, u->mountpoint, false);
		if (write(fd, &done, sizeof(done)) != sizeof(done))
			break;
	}
	if (!leave)
		take_away(u->mountpoint);
	else if (done == UNMOUNT_COVERED)
		wait_and_unmount(&last, u->mountpoint);
}

int unmounter_start(struct unmounter *u, const char *mountpoint, bool say)
{
	pid_t pid;

	u->known = false;
	u->mountpoint = mountpoint;
	u->fd = helper_start(&pid, "zrecord-unmount", say, serve, u);
	return u->fd < 0 ? u->fd : 0;
}

int unmounter_know(struct unmounter *u)
{
	struct place mount;
	int rc = place_at(u->mountpoint, &mount);

	if (!rc) {
		u->device[0] = mount.major;
		u->device[1] = mount.minor;
		u->known = true;
	}
	place_free(&mount);
	return rc;
}

static void ask(struct unmounter *u, int kind)
{
	struct request r = { .kind = kind };
	ssize_t n;

	memcpy(r.device, u->device, sizeof(r.device));
	n = write(u->fd, &r, sizeof(r));
	/* If it is gone, so is the answer. */
	(void)n;
}

void unmounter_leave(struct unmounter *u)
{
	ask(u, REQUEST_LEAVE);
}

void unmounter_ask(struct unmounter *u)
{
	ask(u, REQUEST_UNMOUNT);
}

enum unmounted unmounter_answer(struct unmounter *u, int patience)
{
	struct pollfd answer = { .fd = u->fd, .events = POLLIN };
	enum unmounted done;

	if (poll(&answer, 1, patience) != 1)
		return UNMOUNT_PENDING;
	if (read(u->fd, &done, sizeof(done)) == sizeof(done))
		return done;
	say("cannot unmount: the process that does so has ended");
	return UNMOUNT_REFUSED;
}

void unmounter_unmount(struct unmounter *u)
{
	unmounter_ask(u);
	if (unmounter_answer(u, PATIENCE_MS) == UNMOUNT_PENDING)
		say("cannot unmount: the process that does so does not answer");
}

/* It ends by itself, also if it is stopped now. */
void unmounter_stop(struct unmounter *u)
{
	if (u->fd < 0)
		return;
	unmounter_leave(u);
	close(u->fd);
	u->fd = -1;
}
