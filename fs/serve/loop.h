/* SPDX-License-Identifier: BSD-2-Clause
 * The threads that serve: who waits for the next request, and who answers. */
#ifndef LOOP_H
#define LOOP_H

#include <fuse_lowlevel.h>

#include "tree/mount.h"

struct loop;

/* Start what beside the caller serves a session whose INIT was answered.
 * Returns 0 or a negative errno; then *out is NULL. */
int loop_start(struct loop **out, struct mount *m, struct fuse_session *se);

/* Serve, in this thread as well, until the session ends: 0, or a negative errno
 * if reading from the kernel failed. After it no thread serves. */
int loop_run(struct loop *l);

/* What the calling thread does next may last: see that someone else waits for
 * requests. Any thread. */
void loop_may_last(struct loop *l);

/* End the threads, if loop_run was not called, and free the loop. Nobody may
 * call loop_may_last any more. NULL is allowed. */
void loop_free(struct loop *l);

#endif
