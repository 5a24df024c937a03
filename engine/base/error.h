/* SPDX-License-Identifier: BSD-2-Clause
 * The room base: what every file of the engine may need: errors, I/O, memory,
 * threads, hashes; nothing of containers.
 *
 * Filling in a caller's struct zr_error. */
#ifndef ZR_ERROR_H
#define ZR_ERROR_H

#include "zrecord.h"

/* Store code, path and message, the numbers as ZR_NONE; returns `code`, so
 * that a failing path reads `return zr_fail(err, -EUCLEAN, path, "...")`.
 * The message becomes "PATH: TEXT", or TEXT when `path` is NULL. `err` may be
 * NULL. A later call overwrites: only the first to know an error calls it. */
__attribute__((format(printf, 4, 5))) int
zr_fail(struct zr_error *err, int code, const char *path, const char *fmt, ...);

/* As zr_fail, and the facts for programs. */
struct zr_facts {
	uint64_t record, offset, expected, found;
};
__attribute__((format(printf, 5, 6))) int zr_fail_at(struct zr_error *err,
						     int code, const char *path,
						     struct zr_facts facts,
						     const char *fmt, ...);

/* As zr_fail for a system call that set errno to `errnum`: "PATH: TEXT:
 * strerror". Numbers outside the closed set of zrecord.h become -EIO. */
int zr_fail_sys(struct zr_error *err, int errnum, const char *path,
		const char *doing);

#endif
