/* SPDX-License-Identifier: BSD-2-Clause
 * Condition variables that are waited on until a time of the monotonic clock.
 */
#ifndef ZRFS_CLOCK_H
#define ZRFS_CLOCK_H

#include <pthread.h>
#include <time.h>

static inline void cond_init_monotonic(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

#endif
