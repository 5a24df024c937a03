/* SPDX-License-Identifier: BSD-2-Clause
 * The room base: what every file of the loader may need. Here: fill the
 * caller's struct zl_error. */
#ifndef ZL_FAIL_H
#define ZL_FAIL_H

#include "zloader.h"

/* Store code and message, nothing else applying; returns code. */
__attribute__((format(printf, 3, 4))) int
zl_fail(struct zl_error *err, int code, const char *fmt, ...);

/* The same for what a callback of the caller's returned at `step`; returns
 * that, if it is negative as it has to be, or -EINVAL. */
int zl_fail_callback(struct zl_error *err, int returned, uint64_t step,
		     const char *what);

#endif
