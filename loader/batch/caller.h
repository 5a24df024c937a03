/* SPDX-License-Identifier: BSD-2-Clause
 * Who calls: the process that a loader's threads are in or a child of it, one
 * of those threads or another. */
#ifndef ZL_CALLER_H
#define ZL_CALLER_H

#include "loader.h"

/* True in a child that was forked while threads ran: locks may be held by
 * threads that are not there. */
bool zl_forked(const struct zl_loader *l);

/* This thread works for *l from now on. */
void zl_work_for(const struct zl_loader *l);

/* True on a thread that works for *l: the call comes from a callback. Looks at
 * the address alone. */
bool zl_in_callback(const struct zl_loader *l);

/* Whether the caller may wait for the loader's threads.
 * Returns 0, -ECHILD, -EDEADLK. */
int zl_may_wait(const struct zl_loader *l, struct zl_error *err);

#endif
