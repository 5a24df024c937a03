/* SPDX-License-Identifier: BSD-2-Clause
 * -o preload: the kernel is given the records that fit before anyone asks.
 *
 * A process outside lists records/, which makes the files known to the kernel;
 * then a thread that never answers requests stores them one after the other, as
 * push does. */
#ifndef PRELOAD_H
#define PRELOAD_H

#include "push.h"
#include "tree/mount.h"

struct preload;

/* Start the process for the mount at `mountpoint`, before there are threads and
 * while files can be opened. Returns 0 or a negative errno; then *out is NULL.
 */
int preload_new(struct preload **out, struct mount *m, const char *mountpoint);

/* Start the thread. NULL is allowed. Returns 0 or a negative errno. */
int preload_start(struct preload *p, struct push *push);

/* End the thread and free it. Before push_stop. NULL is allowed. */
void preload_stop(struct preload *p);

#endif
