/* SPDX-License-Identifier: BSD-2-Clause
 * Whether a gather should be shared with an executor's workers. */
#ifndef ZR_EXECUTOR_H
#define ZR_EXECUTOR_H

#include <stdbool.h>

#include "zrecord.h"

/* Whether the last gather that could have been shared ended so short a time
 * ago that workers which took part still look for work; and those that did not
 * will be awake for the next one, if calls go on like this. */
bool zr_executor_warm(const struct zr_executor *ex);

/* Such a gather has ended now. NULL is allowed. */
void zr_executor_touch(struct zr_executor *ex);

#endif
