/* SPDX-License-Identifier: BSD-2-Clause
 * Signals that end the driver.
 *
 * fuse_session_exit wakes no thread of libfuse before 3.18. Unmounting does:
 * the kernel ends the connection once nobody uses the mount any more. */
#include "detach.h"

#include <errno.h>
#include <unistd.h>

#include "mounts.h"
#include "say.h"

/* Bind mounts that a signal takes down; more than anyone makes. */
#define PLACES_MAX 1000

/* It must be on top where it is, or another one would be unmounted. */
static bool unmount_at(const struct detach *d, const char *path)
{
	struct place top;
	bool ours = place_at(path, &top) && top.major == d->major &&
		    top.minor == d->minor;

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
static bool unmount(const struct detach *d)
{
	struct place ours;
	bool done = true;

	for (int i = 0; done && i < PLACES_MAX; i++) {
		if (!place_of(d->major, d->minor, &ours))
			break;
		done = unmount_at(d, ours.path);
		place_free(&ours);
	}
	return done;
}

static void *wait_for_signals(void *arg)
{
	struct detach *d = arg;
	int sig;

	while (sigwait(&d->signals, &sig) == 0) {
		if (d->stop)
			return NULL;
		if (d->unmounted) {
			say("ended by a second signal: files were still open");
			_exit(EXIT_SYSTEM);
		}
		d->unmounted = unmount(d);
	}
	return NULL;
}

void detach_block(struct detach *d)
{
	sigemptyset(&d->signals);
	sigaddset(&d->signals, SIGTERM);
	sigaddset(&d->signals, SIGINT);
	sigaddset(&d->signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &d->signals, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int detach_start(struct detach *d, const char *mountpoint)
{
	struct place p;

	d->unmounted = false;
	d->stop = false;
	if (!place_at(mountpoint, &p))
		return -ENOENT;
	d->major = p.major;
	d->minor = p.minor;
	place_free(&p);
	return -pthread_create(&d->thread, NULL, wait_for_signals, d);
}

void detach_stop(struct detach *d)
{
	d->stop = true;
	pthread_kill(d->thread, SIGTERM);
	pthread_join(d->thread, NULL);
}
