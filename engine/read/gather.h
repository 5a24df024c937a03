/* SPDX-License-Identifier: BSD-2-Clause
 * Many records at once: splitting a gather into tasks, keeping its error. */
#ifndef ZR_GATHER_H
#define ZR_GATHER_H

#include <pthread.h>
#include <stdatomic.h>

#include "reader.h"
#include "split.h"

/* One record of a gather. Returns 0 or a negative errno. */
struct zr_gather;
typedef int (*zr_gather_fn)(struct zr_gather *g, struct zr_lane *lane, size_t i,
			    struct zr_error *err);

struct zr_gather {
	struct zr_reader *r;
	const uint64_t *ids;
	size_t count;
	zr_gather_fn one;
	bool down;             /* each task from its last record to its first */
	struct zr_ragged *out; /* Ragged */
	unsigned char *dst;

	atomic_bool apart; /* reading several at once failed: one by one */
	bool stream;       /* too long for the cache */
	size_t run;        /* records of a task */
	struct zr_split split;
	size_t ahead;      /* records to ask the disk for, 0: none */
	size_t asked;      /* under lock: the first not asked for */
	atomic_size_t failed_at; /* smallest i that failed, or SIZE_MAX */
	pthread_mutex_t lock;
	int code;             /* under lock: of failed_at */
	struct zr_error *err; /* under lock: of failed_at */
};

/* Call g->one for each i in [0, count); `bytes` is how much all of it decodes
 * to, for the size of the tasks. Of several errors the one of the smallest i
 * is kept. */
int zr_gather_all(struct zr_gather *g, uint64_t bytes);

#endif
