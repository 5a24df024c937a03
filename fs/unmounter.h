/* SPDX-License-Identifier: BSD-2-Clause
 * A process of its own that unmounts for the driver, which has given up the
 * right to do so. It knows no more than the mount and ends with the driver. */
#ifndef UNMOUNTER_H
#define UNMOUNTER_H

#include <stdbool.h>
#include <sys/types.h>

struct unmounter {
	int fd; /* -1: there is none */
	pid_t pid;
};

/* Start it for the mount at `mountpoint`, which is absolute and without links.
 * Before there are threads. It keeps stderr if `say`. Returns 0 or a negative
 * errno. */
int unmounter_start(struct unmounter *u, const char *mountpoint, bool say);

/* Take the mount out of the tree, wherever it is now; files that are open stay
 * so. Returns false if it may work later: another file system is mounted over
 * it. One thread at a time. */
bool unmounter_unmount(struct unmounter *u);

/* End it. */
void unmounter_stop(struct unmounter *u);

#endif
