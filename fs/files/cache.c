/* SPDX-License-Identifier: BSD-2-Clause
 * Blocks of memory that are costly to make, kept within a budget of bytes. */
#include "cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

#define BUCKET_BITS 12
#define BUCKETS (1u << BUCKET_BITS)
/* A smaller budget does not keep several blocks from being made at once. */
#define ROOM_MIN ((uint64_t)16 << 20)
/* This part of the room is large. */
#define LARGE(room) ((room) / 8)
/* A large block is in use if it was so long ago, and has its place for at most
 * so long when others wait; nobody needs one that was not used for so long. */
#define USE_MS 100
#define POLL_MS 10
#define TURN_MS 4000
#define IDLE_MS 1000

enum { BLOCK_FILLING, BLOCK_READY };

struct cache {
	uint64_t budget; /* to keep */
	uint64_t room;   /* to keep and to make */
	pthread_mutex_t lock;
	pthread_cond_t change;
	/* All below is under `lock`. */
	unsigned waiting; /* for `change` */
	uint64_t bytes;   /* of blocks that are ready */
	uint64_t filling; /* cost of those that are being made */
	/* One that is larger than the room is not among them. */
	struct cache_block *giant;
	void (*over)(void *ctx); /* see cache_on_giant */
	void *ctx;
	struct recent recent;
	struct cache_block *bucket[BUCKETS];
};

struct cache *cache_new(uint64_t budget)
{
	struct cache *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->budget = budget;
	c->room = budget < ROOM_MIN ? ROOM_MIN : budget;
	pthread_mutex_init(&c->lock, NULL);
	cond_init_monotonic(&c->change);
	return c;
}

void cache_on_giant(struct cache *c, void (*over)(void *ctx), void *ctx)
{
	pthread_mutex_lock(&c->lock);
	c->over = over;
	c->ctx = ctx;
	pthread_mutex_unlock(&c->lock);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static struct cache_block **bucket_of(struct cache *c, uint64_t key)
{
	return &c->bucket[key * 0x9E3779B97F4A7C15u >> (64 - BUCKET_BITS)];
}

static struct cache_block *block_of(struct recent_link *l)
{
	return RECENT_OF(l, struct cache_block, recent);
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

static bool is_large(const struct cache *c, const struct cache_block *b)
{
	return b->cost > LARGE(c->room);
}

static void touch(const struct cache *c, struct cache_block *b)
{
	if (is_large(c, b))
		b->used = now_ms();
}

static bool is_in_use(const struct cache *c, const struct cache_block *b)
{
	uint64_t now;

	if (b->refs || !is_large(c, b))
		return b->refs;
	now = now_ms();
	return now - b->used < USE_MS && now - b->made < TURN_MS;
}

/* Called for a block that is ready, and that nobody holds. */
static void drop(struct cache *c, struct cache_block *b)
{
	unlink_bucket(c, b);
	if (c->giant == b) {
		c->giant = NULL;
	} else {
		c->bytes -= b->size;
		recent_remove(&c->recent, &b->recent);
	}
	destroy(b);
}

/* What is kept after all that was asked for is there. */
static void evict(struct cache *c)
{
	struct recent_link *l = c->recent.oldest, *newer;

	for (; l && l != c->recent.newest && c->bytes > c->budget; l = newer) {
		struct cache_block *b = block_of(l);

		newer = l->newer;
		if (!is_in_use(c, b))
			drop(c, b);
	}
}

/* Drop what may be dropped until a block of this cost can be made. */
static bool make_room(struct cache *c, uint64_t cost)
{
	struct recent_link *l = c->recent.oldest, *newer;
	struct cache_block *b;

	if (cost > c->room) {
		b = c->giant;
		if (b && b->state == BLOCK_READY && !is_in_use(c, b))
			drop(c, b);
		return !c->giant;
	}
	for (; l && c->bytes + c->filling + cost > c->room; l = newer) {
		newer = l->newer;
		b = block_of(l);
		if (!is_in_use(c, b))
			drop(c, b);
	}
	return c->bytes + c->filling + cost <= c->room;
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	for (struct recent_link *l = c->recent.newest, *older; l; l = older) {
		older = l->older;
		destroy(block_of(l));
	}
	if (c->giant)
		destroy(c->giant);
	pthread_cond_destroy(&c->change);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* That a block is no longer in use makes no noise: look again soon. */
static void wait_for_change(struct cache *c)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += POLL_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	c->waiting++;
	pthread_cond_timedwait(&c->change, &c->lock, &until);
	c->waiting--;
}

static void tell_change(struct cache *c)
{
	if (c->waiting)
		pthread_cond_broadcast(&c->change);
}

static struct cache_block *find(struct cache *c, uint64_t key)
{
	struct cache_block *b = *bucket_of(c, key);

	while (b && b->key != key)
		b = b->chain;
	return b;
}

static void take(struct cache *c, struct cache_block *b)
{
	b->refs++;
	touch(c, b);
	if (!b->made)
		b->made = b->used;
	if (b == c->giant)
		return;
	recent_remove(&c->recent, &b->recent);
	recent_add(&c->recent, &b->recent);
}

static struct cache_block *insert(struct cache *c, uint64_t key, uint64_t cost)
{
	struct cache_block *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->key = key;
	b->cost = cost;
	b->refs = 1;
	b->state = BLOCK_FILLING;
	b->chain = *bucket_of(c, key);
	*bucket_of(c, key) = b;
	if (cost > c->room)
		c->giant = b;
	else
		c->filling += cost;
	return b;
}

/* Called with the lock. Stores a block that is there, or that the caller is to
 * fill. */
static int find_or_insert(struct cache *c, uint64_t key, uint64_t cost,
			  bool wait, struct cache_block **out)
{
	struct cache_block *b;

	for (;;) {
		b = find(c, key);
		if (b && b->state == BLOCK_READY) {
			take(c, b);
			break;
		}
		if (!b && make_room(c, cost)) {
			b = insert(c, key, cost);
			break;
		}
		if (!wait && (!b || is_large(c, b)))
			return -EAGAIN;
		wait_for_change(c);
	}
	*out = b;
	return b ? 0 : -ENOMEM;
}

/* Called with the lock, after `b` was filled or not. */
static void finish(struct cache *c, struct cache_block *b, int rc)
{
	if (b != c->giant)
		c->filling -= b->cost;
	if (rc) {
		unlink_bucket(c, b);
		if (b == c->giant)
			c->giant = NULL;
		free(b);
	} else {
		b->state = BLOCK_READY;
		touch(c, b);
		b->made = b->used;
		if (b != c->giant) {
			c->bytes += b->size;
			recent_add(&c->recent, &b->recent);
			evict(c);
		}
	}
	tell_change(c);
}

int cache_get(struct cache *c, uint64_t key, uint64_t cost, bool wait,
	      cache_fill_fn fill, void *ctx, struct cache_block **out)
{
	struct cache_block *b = NULL;
	void (*over)(void *) = NULL;
	void *over_ctx = NULL;
	bool ready;
	int rc;

	*out = NULL;
	pthread_mutex_lock(&c->lock);
	rc = find_or_insert(c, key, cost, wait, &b);
	ready = !rc && b->state == BLOCK_READY;
	pthread_mutex_unlock(&c->lock);
	if (rc)
		return rc;
	if (!ready) {
		rc = fill(ctx, b);
		pthread_mutex_lock(&c->lock);
		finish(c, b, rc);
		if (!rc && b == c->giant) {
			over = c->over;
			over_ctx = c->ctx;
		}
		pthread_mutex_unlock(&c->lock);
	}
	/* Whoever is called may ask for the lock. */
	if (over)
		over(over_ctx);
	if (!rc)
		*out = b;
	return rc;
}

static void give_back(struct cache *c, struct cache_block *b, bool needed)
{
	if (!b)
		return;
	pthread_mutex_lock(&c->lock);
	b->refs--;
	touch(c, b);
	if (!needed && is_large(c, b))
		b->made = 0;
	evict(c);
	tell_change(c);
	pthread_mutex_unlock(&c->lock);
}

void cache_put(struct cache *c, struct cache_block *b)
{
	give_back(c, b, true);
}

void cache_done(struct cache *c, struct cache_block *b)
{
	give_back(c, b, false);
}

bool cache_expire(struct cache *c)
{
	struct cache_block *b;
	bool stays;

	pthread_mutex_lock(&c->lock);
	b = c->giant;
	if (b && b->state == BLOCK_READY && !b->refs &&
	    now_ms() - b->used >= IDLE_MS)
		drop(c, b);
	stays = c->giant;
	pthread_mutex_unlock(&c->lock);
	return stays;
}
