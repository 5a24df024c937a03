/* SPDX-License-Identifier: BSD-2-Clause
 * Readers that go through records, or the pieces of a large file, in order:
 * which they are, and what they will want next. Only arithmetic; the caller has
 * the lock. */
#ifndef ORDER_H
#define ORDER_H

#include <stdbool.h>
#include <stdint.h>

#define ORDER_RUNS 16

/* One or several readers that go through the same together. */
struct order_run {
	uint64_t of;   /* what the caller calls it */
	uint64_t last; /* the furthest record that was asked for */
	uint64_t next; /* to be pushed next; none if not below `end` */
	uint64_t end;
	uint64_t window; /* records to be ahead; 0 while it may be chance */
	uint64_t bytes;  /* what may be pushed until a reader is seen again */
	uint64_t used;   /* when, in calls of order_seen; 0: never */
};

struct order {
	struct order_run run[ORDER_RUNS];
	uint64_t now;
	unsigned turn;
};

/* What may be pushed ahead of a reader. */
struct order_limits {
	uint64_t lead;    /* records that it asks for by itself first */
	uint64_t records; /* and then so many */
	uint64_t bytes;
};

/* A reader asked for number `id` of the `count` records of `of`. Returns true
 * if something is to be pushed now. */
bool order_seen(struct order *o, uint64_t of, uint64_t id, uint64_t count,
		const struct order_limits *limits);

/* Store the next record to push; runs take turns. Returns false if there is
 * none. */
bool order_take(struct order *o, uint64_t *of, uint64_t *id);

/* The record that was taken has `bytes` bytes, 0 if it could not be pushed:
 * then the readers must be seen again first. */
void order_pushed(struct order *o, uint64_t of, uint64_t id, uint64_t bytes);

#endif
