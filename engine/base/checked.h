/* SPDX-License-Identifier: BSD-2-Clause
 * Arithmetic on numbers that come from a file: every sum, product and span
 * says whether it overflowed. */
#ifndef ZR_CHECKED_H
#define ZR_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool zr_add(uint64_t a, uint64_t b, uint64_t *out)
{
	return !__builtin_add_overflow(a, b, out);
}

static inline bool zr_mul(uint64_t a, uint64_t b, uint64_t *out)
{
	return !__builtin_mul_overflow(a, b, out);
}

/* Is [off, off + len) inside [0, size)? Never wraps. */
static inline bool zr_span_inside(uint64_t off, uint64_t len, uint64_t size)
{
	return off <= size && len <= size - off;
}

static inline bool zr_fits_size(uint64_t v)
{
#if SIZE_MAX < UINT64_MAX
	return v <= SIZE_MAX;
#else
	(void)v;
	return true;
#endif
}

#endif
