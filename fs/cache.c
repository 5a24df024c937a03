/* SPDX-License-Identifier: BSD-2-Clause
 * Blocks of memory that are costly to make, kept within a budget of bytes. */
#include "cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define BUCKET_BITS 12
#define BUCKETS (1u << BUCKET_BITS)

enum { BLOCK_FILLING, BLOCK_READY };

struct cache {
	uint64_t budget;
	pthread_mutex_t lock;
	pthread_cond_t filled;
	/* All below is under `lock`. */
	uint64_t bytes; /* of blocks that are ready */
	struct cache_block *newest, *oldest;
	struct cache_block *bucket[BUCKETS];
};

struct cache *cache_new(uint64_t budget)
{
	struct cache *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->budget = budget;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->filled, NULL);
	return c;
}

static struct cache_block **bucket_of(struct cache *c, uint64_t key)
{
	return &c->bucket[key * 0x9E3779B97F4A7C15u >> (64 - BUCKET_BITS)];
}

static void unlink_recent(struct cache *c, struct cache_block *b)
{
	*(b->newer ? &b->newer->older : &c->newest) = b->older;
	*(b->older ? &b->older->newer : &c->oldest) = b->newer;
}

static void make_newest(struct cache *c, struct cache_block *b)
{
	b->newer = NULL;
	b->older = c->newest;
	*(c->newest ? &c->newest->newer : &c->oldest) = b;
	c->newest = b;
}

static void unlink_bucket(struct cache *c, struct cache_block *b)
{
	struct cache_block **p = bucket_of(c, b->key);

	while (*p != b)
		p = &(*p)->chain;
	*p = b->chain;
}

static void destroy(struct cache_block *b)
{
	free(b->memory);
	free(b);
}

static void evict(struct cache *c)
{
	struct cache_block *b = c->oldest, *newer;

	for (; b && b != c->newest && c->bytes > c->budget; b = newer) {
		newer = b->newer;
		if (b->refs)
			continue;
		c->bytes -= b->size;
		unlink_recent(c, b);
		unlink_bucket(c, b);
		destroy(b);
	}
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	for (struct cache_block *b = c->newest, *older; b; b = older) {
		older = b->older;
		destroy(b);
	}
	pthread_cond_destroy(&c->filled);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* Returns the block with a reference for the caller, or NULL if there is
 * none and it is not being made. */
static struct cache_block *find(struct cache *c, uint64_t key)
{
	struct cache_block *b;

	for (;;) {
		for (b = *bucket_of(c, key); b && b->key != key;)
			b = b->chain;
		if (!b || b->state == BLOCK_READY)
			break;
		pthread_cond_wait(&c->filled, &c->lock);
	}
	if (!b)
		return NULL;
	b->refs++;
	unlink_recent(c, b);
	make_newest(c, b);
	return b;
}

static struct cache_block *insert(struct cache *c, uint64_t key)
{
	struct cache_block *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->key = key;
	b->refs = 1;
	b->state = BLOCK_FILLING;
	b->chain = *bucket_of(c, key);
	*bucket_of(c, key) = b;
	return b;
}

int cache_get(struct cache *c, uint64_t key, cache_fill_fn fill, void *ctx,
	      struct cache_block **out)
{
	struct cache_block *b;
	int rc;

	*out = NULL;
	pthread_mutex_lock(&c->lock);
	b = find(c, key);
	if (b) {
		pthread_mutex_unlock(&c->lock);
		*out = b;
		return 0;
	}
	b = insert(c, key);
	pthread_mutex_unlock(&c->lock);
	if (!b)
		return -ENOMEM;
	rc = fill(ctx, b);
	pthread_mutex_lock(&c->lock);
	if (rc) {
		unlink_bucket(c, b);
	} else {
		b->state = BLOCK_READY;
		c->bytes += b->size;
		make_newest(c, b);
		evict(c);
	}
	pthread_cond_broadcast(&c->filled);
	pthread_mutex_unlock(&c->lock);
	if (rc)
		free(b);
	else
		*out = b;
	return rc;
}

void cache_put(struct cache *c, struct cache_block *b)
{
	if (!b)
		return;
	pthread_mutex_lock(&c->lock);
	b->refs--;
	evict(c);
	pthread_mutex_unlock(&c->lock);
}
