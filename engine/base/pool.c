/* SPDX-License-Identifier: BSD-2-Clause
 * Memory for batches: on huge pages where there are any, kept for the next
 * batch, since fresh pages cost more than the copy into them. */
#include "pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "checked.h"
#include "zrecord.h"

#define HUGE_PAGE ((size_t)2 << 20)
#define PAGE ((size_t)4096)

struct buffer {
	void *p;
	size_t size;
	bool used;
};

struct zr_pool {
	pthread_mutex_t lock; /* all below */
	size_t keep;          /* bytes that may lie unused */
	size_t unused;        /* bytes that do */
	struct buffer *buffer;
	size_t count, room;
};

void *zr_pages_new(size_t *size)
{
	size_t align = *size >= HUGE_PAGE ? HUGE_PAGE : PAGE;
	uint64_t rounded;
	void *p;

	if (!zr_add(*size ? *size : 1, align - 1, &rounded) ||
	    !zr_fits_size(rounded))
		return NULL;
	rounded &= ~(uint64_t)(align - 1);
	p = aligned_alloc(align, (size_t)rounded);
	if (!p)
		return NULL;
	if (align == HUGE_PAGE) /* a hint: may be refused */
		(void)madvise(p, (size_t)rounded, MADV_HUGEPAGE);
	*size = (size_t)rounded;
	return p;
}

int zr_pool_new(struct zr_pool **out, size_t keep)
{
	struct zr_pool *pool = calloc(1, sizeof(*pool));

	*out = pool;
	if (!pool)
		return -ENOMEM;
	pthread_mutex_init(&pool->lock, NULL);
	pool->keep = keep;
	return 0;
}

void zr_pool_free(struct zr_pool *pool)
{
	if (!pool)
		return;
	for (size_t i = 0; i < pool->count; i++)
		free(pool->buffer[i].p);
	free(pool->buffer);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

/* The smallest unused buffer that fits and is not mostly waste, or NULL. */
static struct buffer *find_unused(struct zr_pool *pool, size_t size)
{
	struct buffer *best = NULL;

	for (size_t i = 0; i < pool->count; i++) {
		struct buffer *b = &pool->buffer[i];

		if (!b->used && b->size >= size && b->size / 2 <= size &&
		    (!best || b->size < best->size))
			best = b;
	}
	return best;
}

static struct buffer *add_buffer(struct zr_pool *pool, size_t size)
{
	struct buffer *b;

	if (pool->count == pool->room) {
		size_t room = pool->room ? 2 * pool->room : 8;

		b = realloc(pool->buffer, room * sizeof(*b));
		if (!b)
			return NULL;
		pool->buffer = b;
		pool->room = room;
	}
	b = &pool->buffer[pool->count];
	b->size = size;
	b->p = zr_pages_new(&b->size);
	if (!b->p)
		return NULL;
	pool->count++;
	return b;
}

static void drop_buffer(struct zr_pool *pool, struct buffer *b)
{
	free(b->p);
	*b = pool->buffer[--pool->count];
}

/* Until no more than `keep` bytes lie unused; `spare` stays. */
static void drop_unused(struct zr_pool *pool, size_t keep, const void *spare)
{
	for (size_t i = 0; i < pool->count && pool->unused > keep;) {
		struct buffer *b = &pool->buffer[i];

		if (b->used || b->p == spare) {
			i++;
			continue;
		}
		pool->unused -= b->size;
		drop_buffer(pool, b);
	}
}

void *zr_pool_get(struct zr_pool *pool, size_t size)
{
	struct buffer *b;
	void *p = NULL;

	pthread_mutex_lock(&pool->lock);
	b = find_unused(pool, size);
	if (b) {
		pool->unused -= b->size;
	} else {
		b = add_buffer(pool, size);
		if (!b && pool->unused) {
			drop_unused(pool, 0, NULL);
			b = add_buffer(pool, size);
		}
	}
	if (b) {
		b->used = true;
		p = b->p;
	}
	pthread_mutex_unlock(&pool->lock);
	return p;
}

void zr_pool_put(struct zr_pool *pool, void *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&pool->lock);
	for (size_t i = 0; i < pool->count; i++) {
		struct buffer *b = &pool->buffer[i];

		if (b->p != p)
			continue;
		if (b->size > pool->keep) {
			drop_buffer(pool, b);
		} else {
			b->used = false;
			pool->unused += b->size;
			drop_unused(pool, pool->keep, p);
		}
		break;
	}
	pthread_mutex_unlock(&pool->lock);
}
