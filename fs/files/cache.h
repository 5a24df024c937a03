/* SPDX-License-Identifier: BSD-2-Clause
 * Blocks of memory that are costly to make, kept within a budget of bytes.
 *
 * Each block is made once, outside of the lock, however many threads want it
 * at the same time, and stays as long as someone holds it. What is being made
 * counts as well: who wants more than there is room for waits, or is told to
 * come again. A block larger than the budget is beside it, and there is one
 * such block at a time.
 *
 * READs of one large record follow each other, and it would be made again for
 * each if another took its place in between. So a large block keeps its place
 * while it is in use, for some seconds at most: large ones take turns.
 *
 * Whoever holds a block must not ask for another one of the same cache. Any
 * thread. */
#ifndef CACHE_H
#define CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/recent.h"

struct cache;

struct cache_block {
	unsigned char *data; /* what is kept: `len` bytes */
	size_t len;
	void *memory; /* from malloc, freed with the block; holds `data` */
	size_t size;  /* bytes of `memory` */
	/* The rest belongs to cache.c, under the lock of the cache. */
	struct cache_block *chain;
	struct recent_link recent; /* if it is ready, and no giant */
	uint64_t key;
	uint64_t cost;
	uint64_t made, used; /* large ones: when, in milliseconds */
	unsigned refs;
	int state;
};

/* Make the block of the key that was asked for: set the first four fields.
 * Returns 0 or a negative errno; then nothing may be left in the block. */
typedef int (*cache_fill_fn)(void *ctx, struct cache_block *block);

/* Returns NULL without memory. */
struct cache *cache_new(uint64_t budget);

/* Free the cache and all blocks; nobody may hold one. NULL is allowed. */
void cache_free(struct cache *c);

/* Store the block of `key` in *out, made by `fill` unless it is there; give
 * it back with cache_put. To make it takes at most about `cost` bytes. Returns
 * 0, -ENOMEM, or what `fill` returned; a failure is not kept. Unless `wait`,
 * returns -EAGAIN if there is no room now, or someone else makes a large one.
 */
int cache_get(struct cache *c, uint64_t key, uint64_t cost, bool wait,
	      cache_fill_fn fill, void *ctx, struct cache_block **out);

/* Give a block back. NULL is allowed. */
void cache_put(struct cache *c, struct cache_block *block);

/* As cache_put, by who does not need it any more: it does not keep its place.
 */
void cache_done(struct cache *c, struct cache_block *block);

/* Have `over` called, without a lock, when a block beyond the budget was made,
 * which cache_expire drops in time. NULL: nobody. */
void cache_on_giant(struct cache *c, void (*over)(void *ctx), void *ctx);

/* Drop a block beyond the budget if nobody has used it for a while. Returns
 * true if there is one that stays. */
bool cache_expire(struct cache *c);

#endif
