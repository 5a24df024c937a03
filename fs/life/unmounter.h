/* SPDX-License-Identifier: BSD-2-Clause
 * A process of its own that unmounts for the driver, which has given up the
 * right to do so. It knows no more than the mount and ends with the driver;
 * but if that dies before the mount works, or cannot take it away because
 * another file system is mounted over it, this takes it away later. */
#ifndef UNMOUNTER_H
#define UNMOUNTER_H

#include <stdbool.h>
#include <sys/types.h>

/* What became of the mount. */
enum unmounted {
	UNMOUNT_DONE,    /* it has left the tree; open files stay so */
	UNMOUNT_COVERED, /* not now: another file system is mounted over it */
	UNMOUNT_REFUSED, /* not at all; said why */
	UNMOUNT_PENDING, /* no answer yet */
};

struct unmounter {
	int fd; /* -1: there is none */
	const char *mountpoint;
	bool known;
	unsigned device[2]; /* of the mount: major, minor */
};

/* Start it, before there is a mount at `mountpoint`, so that none is left that
 * nobody can take away. The path is absolute, has no links, and stays. It keeps
 * stderr if `say`. Returns 0 or a negative errno. */
int unmounter_start(struct unmounter *u, const char *mountpoint, bool say);

/* The mount is the one that is there now. Returns 0, -ENOENT if there is none
 * any more, or another negative errno if that cannot be known. */
int unmounter_know(struct unmounter *u);

/* From now on a mount whose driver dies is left, so that who works in it gets
 * errors and not an empty directory. */
void unmounter_leave(struct unmounter *u);

/* Have the mount, which is known, taken out of the tree, wherever it is now.
 * One thread at a time. */
void unmounter_ask(struct unmounter *u);

/* Return what came of it; UNMOUNT_PENDING after so many milliseconds. */
enum unmounted unmounter_answer(struct unmounter *u, int patience);

/* Both. Says so if there is no answer. */
void unmounter_unmount(struct unmounter *u);

/* End it. */
void unmounter_stop(struct unmounter *u);

#endif
