/* SPDX-License-Identifier: BSD-2-Clause
 * fs/cache.c: a budget, references, and one filling per block. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "cache.h"

#define KIB ((uint64_t)1 << 10)

struct maker {
	size_t size;
	int rc;
	unsigned delay_us;
	unsigned made;
};

static int make(void *ctx, struct cache_block *b)
{
	struct maker *m = ctx;

	__atomic_add_fetch(&m->made, 1, __ATOMIC_RELAXED);
	if (m->delay_us)
		usleep(m->delay_us);
	if (m->rc)
		return m->rc;
	b->memory = calloc(1, m->size);
	b->data = b->memory;
	b->len = b->size = m->size;
	return b->memory ? 0 : -ENOMEM;
}

static void touch(struct cache *c, uint64_t key, struct maker *m)
{
	struct cache_block *b;

	cr_assert(cache_get(c, key, make, m, &b) == 0);
	cr_assert(b->len == m->size);
	cache_put(c, b);
}

Test(cache, makes_a_block_once)
{
	struct cache *c = cache_new(64 * KIB);
	struct maker m = { .size = KIB };

	touch(c, 1, &m);
	touch(c, 1, &m);
	touch(c, 2, &m);
	touch(c, 1, &m);
	cr_expect(m.made == 2);
	cache_free(c);
}

Test(cache, drops_what_was_used_longest_ago)
{
	struct cache *c = cache_new(4 * KIB);
	struct maker m = { .size = KIB };

	for (uint64_t key = 1; key <= 4; key++)
		touch(c, key, &m);
	touch(c, 1, &m);
	touch(c, 5, &m); /* in place of 2 */
	cr_expect(m.made == 5);
	touch(c, 1, &m);
	touch(c, 3, &m);
	touch(c, 4, &m);
	cr_expect(m.made == 5);
	touch(c, 2, &m);
	cr_expect(m.made == 6);
	cache_free(c);
}

Test(cache, keeps_the_last_block_however_large)
{
	struct cache *c = cache_new(KIB);
	struct maker m = { .size = 1000 * KIB };

	for (int i = 0; i < 10; i++)
		touch(c, 1, &m);
	cr_expect(m.made == 1);
	touch(c, 2, &m);
	touch(c, 1, &m);
	cr_expect(m.made == 3);
	cache_free(c);
}

Test(cache, works_without_a_budget)
{
	struct cache *c = cache_new(0);
	struct maker m = { .size = KIB };

	touch(c, 1, &m);
	touch(c, 2, &m);
	cache_free(c);
}

Test(cache, never_drops_what_is_held)
{
	struct cache *c = cache_new(2 * KIB);
	struct maker m = { .size = KIB };
	struct cache_block *held;

	cr_assert(cache_get(c, 1, make, &m, &held) == 0);
	held->data[KIB - 1] = 77;
	for (uint64_t key = 2; key < 100; key++)
		touch(c, key, &m);
	cr_expect(held->data[KIB - 1] == 77);
	cache_put(c, held);
	cache_free(c);
}

Test(cache, does_not_keep_a_failure)
{
	struct cache *c = cache_new(64 * KIB);
	struct maker bad = { .rc = -EBADMSG }, good = { .size = KIB };
	struct cache_block *b;

	cr_expect(cache_get(c, 1, make, &bad, &b) == -EBADMSG);
	cr_expect(b == NULL);
	cr_expect(cache_get(c, 1, make, &bad, &b) == -EBADMSG);
	touch(c, 1, &good);
	cr_expect(good.made == 1);
	cache_free(c);
}

struct race {
	struct cache *c;
	struct maker *m;
	int rc;
};

static void *get_and_put(void *arg)
{
	struct race *r = arg;
	struct cache_block *b;

	r->rc = cache_get(r->c, 9, make, r->m, &b);
	cache_put(r->c, b);
	return NULL;
}

static void race(struct maker *m, int rc)
{
	struct cache *c = cache_new(64 * KIB);
	struct race r[8];
	pthread_t id[8];

	for (int i = 0; i < 8; i++) {
		r[i] = (struct race){ c, m, 1 };
		pthread_create(&id[i], NULL, get_and_put, &r[i]);
	}
	for (int i = 0; i < 8; i++) {
		pthread_join(id[i], NULL);
		cr_expect(r[i].rc == rc);
	}
	cache_free(c);
}

Test(cache, makes_one_block_for_all_who_wait)
{
	struct maker m = { .size = KIB, .delay_us = 50000 };

	race(&m, 0);
	cr_expect(m.made == 1);
}

Test(cache, tells_a_failure_to_all_who_wait)
{
	struct maker m = { .rc = -EBADMSG, .delay_us = 1000 };

	race(&m, -EBADMSG);
}
