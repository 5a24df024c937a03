/* SPDX-License-Identifier: BSD-2-Clause
 * Where what is mounted, as the kernel tells it: to ask a mount itself may
 * hang. */
#ifndef MOUNTS_H
#define MOUNTS_H

#include <stdbool.h>

/* A mount: its device, where it is, and of which type. */
struct place {
	unsigned major, minor;
	char *path;
	char type[64];
};

/* Find the topmost mount at the absolute `path`. Returns false if nothing is
 * mounted there. place_free frees what it stores. */
bool place_at(const char *path, struct place *p);

/* Find where the mount of a device is. As above. */
bool place_of(unsigned major, unsigned minor, struct place *p);

void place_free(struct place *p);

/* Take the topmost mount at `path` out of the tree; who uses it still, goes on
 * using it. */
void place_unmount(const char *path);

#endif
