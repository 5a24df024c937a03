/* SPDX-License-Identifier: BSD-2-Clause
 * The room base: what every file of the loader may need. Here: fill the
 * caller's struct zl_error. */
#ifndef ZL_FAIL_H
#define ZL_FAIL_H

#include "zloader.h"

/* Store code and message, nothing else applying; returns code. */
__attribute__((format(printf, 3, 4))) int
zl_fail(struct zl_error *err, int code, const char *fmt, ...);

/* The same for an error of the engine; returns from->code. */
int zl_fail_engine(struct zl_error *err, const struct zr_error *from);

#endif
