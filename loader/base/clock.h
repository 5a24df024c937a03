/* SPDX-License-Identifier: BSD-2-Clause
 * The clock that the counters are in. */
#ifndef ZL_CLOCK_H
#define ZL_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t zl_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
