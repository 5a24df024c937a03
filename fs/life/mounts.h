/* SPDX-License-Identifier: BSD-2-Clause
 * Where what is mounted, as the kernel tells it: to ask a mount itself may
 * hang. */
#ifndef MOUNTS_H
#define MOUNTS_H

#include <stdbool.h>

/* A mount: its device, where it is, and of which type; empty if that cannot be
 * known. */
struct place {
	unsigned major, minor;
	char *path;
	char type[64];
};

/* Find the topmost mount at the absolute `path`, which has no links. Returns 0,
 * -ENOENT if nothing is mounted there, or another negative errno if that
 * cannot be known. place_free frees what it stores, in any case. */
int place_at(const char *path, struct place *p);

/* Find where the mount of a device is; without /proc only if it is on top at
 * `path`, where it was. As above. */
int place_of(unsigned major, unsigned minor, const char *path,
	     struct place *p);

void place_free(struct place *p);

/* Whether the driver of what is mounted at `path` died. */
bool place_is_dead(const char *path);

/* Take the topmost mount at `path` out of the tree; who uses it still, goes on
 * using it. Returns 0, or a negative errno if nobody could be asked. */
int place_unmount(const char *path);

/* Open what place_changed waits with. Returns a descriptor, or -1. */
int place_watch(void);

/* Wait for the next mount or unmount, a second at most. */
void place_changed(int watch);

#endif
