/* SPDX-License-Identifier: BSD-2-Clause
 * Who calls: the process that a loader's threads are in, or a child of it. */
#ifndef ZL_CALLER_H
#define ZL_CALLER_H

#include "loader.h"

/* True in a child that was forked while threads ran: locks may be held by
 * threads that are not there. */
bool zl_forked(const struct zl_loader *l);

#endif
