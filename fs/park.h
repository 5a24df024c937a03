/* SPDX-License-Identifier: BSD-2-Clause
 * READs that wait for memory: a thread that answers them when there is some.
 *
 * They must not wait on the threads that serve: whoever uses the memory, and
 * gives it back in the end, needs those. */
#ifndef PARK_H
#define PARK_H

#include <fuse_lowlevel.h>

#include "mount.h"

struct park;

/* A READ without an answer. */
struct parked {
	fuse_req_t req;
	struct node node;
	uint64_t off;
	size_t size;
	struct parked *next;
};

/* Start the thread. Returns 0 or a negative errno; then *out is NULL. */
int park_start(struct park **out, struct mount *m);

/* Refuse what still waits, end the thread and free it. Threads must not be
 * serving any more. NULL is allowed. */
void park_stop(struct park *p);

/* The cache has a block beyond its budget: see that it goes in time. */
void park_watch(struct park *p);

/* Leave a READ to the thread. It is answered in any case. */
void park_read(struct park *p, fuse_req_t req, const struct node *n,
	       uint64_t off, size_t size);

#endif
