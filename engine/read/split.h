/* SPDX-License-Identifier: BSD-2-Clause
 * How the records of a gather are divided into tasks. */
#ifndef ZR_SPLIT_H
#define ZR_SPLIT_H

#include <stddef.h>
#include <stdint.h>

/* Tasks are runs of records; but for memory that is not there yet the first
 * are chunks, each the records that start in some whole pages of it, and what
 * is before and behind them comes in runs. */
struct zr_split {
	size_t count;           /* records */
	size_t run;             /* records of a task that is no chunk */
	const uint64_t *places; /* of records in the destination, or NULL: */
	uint64_t width;         /* they are one after the other */
	size_t chunks;
	uint64_t chunk; /* bytes; all below: 0 without chunks */
	uint64_t start; /* place of the first */
	size_t head;    /* records before them, */
	size_t tail;    /* the first behind */
};

/* Divide into chunks if the `bytes` at `dst` are fresh memory and more than a
 * few for each of the threads. */
void zr_split_fresh(struct zr_split *s, const void *dst, uint64_t bytes,
		    unsigned threads);

size_t zr_split_tasks(const struct zr_split *s);

/* The records of a task: [*first, *end), maybe none. */
void zr_split_span(const struct zr_split *s, size_t task, size_t *first,
		   size_t *end);

#endif
