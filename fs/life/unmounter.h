/* SPDX-License-Identifier: BSD-2-Clause
 * A process of its own that unmounts for the driver, which has given up the
 * right to do so. It knows no more than the mount and ends with the driver. */
#ifndef UNMOUNTER_H
#define UNMOUNTER_H

#include <stdbool.h>
#include <sys/types.h>

struct unmounter {
	int fd; /* -1: there is none */
	bool known;
	unsigned device[2]; /* of the mount: major, minor */
};

/* Start it, before there is a mount, so that none is left that nobody can take
 * away. It keeps stderr if `say`. Returns 0 or a negative errno. */
int unmounter_start(struct unmounter *u, bool say);

/* The mount is the one at `mountpoint`, which is absolute and without links.
 * Returns 0, or -ENOENT if there is none any more. */
int unmounter_know(struct unmounter *u, const char *mountpoint);

/* Take the mount, which is known, out of the tree, wherever it is now; files
 * that are open stay so. Returns false if it may work later: another file
 * system is mounted over it. One thread at a time. */
bool unmounter_unmount(struct unmounter *u);

/* End it. */
void unmounter_stop(struct unmounter *u);

#endif
