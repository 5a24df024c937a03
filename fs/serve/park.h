/* SPDX-License-Identifier: BSD-2-Clause
 * READs, and OPENs that check what will be read, that wait for memory: a thread
 * that answers them when there is some.
 *
 * They must not wait on the threads that serve: whoever uses the memory, and
 * gives it back in the end, needs those. */
#ifndef PARK_H
#define PARK_H

#include <fuse_lowlevel.h>

#include "tree/mount.h"

struct park;

/* A request without an answer. */
struct parked {
	fuse_req_t req;
	/* Try to answer it; false: there is no memory for it yet. */
	bool (*again)(struct mount *m, struct parked *r);
	struct node node;
	uint64_t off; /* READ */
	size_t size;  /* READ */
	struct fuse_file_info file; /* OPEN */
	uint64_t done;              /* OPEN: records that were checked */
	struct parked *next;
};

/* Start the thread. Returns 0 or a negative errno; then *out is NULL. */
int park_start(struct park **out, struct mount *m);

/* Refuse what still waits, end the thread and free it. Threads must not be
 * serving any more. NULL is allowed. */
void park_stop(struct park *p);

/* Leave a request, which is copied, to the thread. It is answered in any case.
 */
void park_add(struct park *p, const struct parked *r);

#endif
