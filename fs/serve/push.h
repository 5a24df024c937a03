/* SPDX-License-Identifier: BSD-2-Clause
 * The thread that tells the kernel what it did not ask for: records ahead of
 * readers that go in order, and files that have changed.
 *
 * It never answers requests, and while it is in the kernel it has no lock: the
 * kernel may make it wait for a page that is locked until a request is
 * answered. See docs/DESIGN.md. */
#ifndef PUSH_H
#define PUSH_H

#include <fuse_lowlevel.h>

#include "tree/mount.h"

struct push;

/* Start the thread for a session that is mounted. Returns 0 or a negative
 * errno; then *out is NULL. */
int push_start(struct push **out, struct mount *m, struct fuse_session *se);

/* End the thread and free it. Threads must not be serving any more. NULL is
 * allowed. */
void push_stop(struct push *p);

/* A reader reads bytes [off, off + size) of the file `n`, of any kind. */
void push_seen(struct push *p, const struct stream *s, const struct node *n,
	       uint64_t off, size_t size);

/* Push the record `n` now, from a thread that answers no requests. Returns the
 * bytes, or a negative errno: -ENOENT if the kernel does not know the file. */
int64_t push_now(struct push *p, const struct node *n);

/* The kernel is to forget what it read of the file `ino`, but not before who
 * reads it now is done: that one would be made to ask again, and again. */
void push_forget(struct push *p, uint64_t ino);

/* Return the number of records that were pushed, and their bytes. */
uint64_t push_records(const struct push *p);
uint64_t push_bytes(const struct push *p);

#endif
