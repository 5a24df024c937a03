/* SPDX-License-Identifier: BSD-2-Clause
 * fs/files/cache.c: a budget, references, and one filling per block. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "files/cache.h"

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

	cr_assert(cache_get(c, key, m->size, true, make, m, &b) == 0);
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

	cr_assert(cache_get(c, 1, m.size, true, make, &m, &held) == 0);
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

	cr_expect(cache_get(c, 1, KIB, true, make, &bad, &b) == -EBADMSG);
	cr_expect(b == NULL);
	cr_expect(cache_get(c, 1, KIB, true, make, &bad, &b) == -EBADMSG);
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

	r->rc = cache_get(r->c, 9, r->m->size, true, make, r->m, &b);
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

#define MIB ((size_t)1 << 20)

/* Make blocks of `size` on several threads at once. */
static unsigned most_at_once;

static int make_and_count(void *ctx, struct cache_block *b)
{
	static unsigned now;
	struct maker *m = ctx;
	unsigned n = __atomic_add_fetch(&now, 1, __ATOMIC_SEQ_CST);
	int rc;

	while (n > __atomic_load_n(&most_at_once, __ATOMIC_SEQ_CST))
		__atomic_store_n(&most_at_once, n, __ATOMIC_SEQ_CST);
	rc = make(m, b);
	__atomic_sub_fetch(&now, 1, __ATOMIC_SEQ_CST);
	return rc;
}

static uint64_t next_key;

static void *get_another(void *arg)
{
	struct race *r = arg;
	struct cache_block *b;

	r->rc = cache_get(r->c,
			  __atomic_add_fetch(&next_key, 1, __ATOMIC_RELAXED),
			  r->m->size, true, make_and_count, r->m, &b);
	cache_put(r->c, b);
	return NULL;
}

static unsigned at_once(size_t size, uint64_t budget)
{
	struct maker m = { .size = size, .delay_us = 100000 };
	struct cache *c = cache_new(budget);
	struct race r[8];
	pthread_t id[8];

	most_at_once = 0;
	for (int i = 0; i < 8; i++) {
		r[i] = (struct race){ c, &m, 1 };
		pthread_create(&id[i], NULL, get_another, &r[i]);
	}
	for (int i = 0; i < 8; i++) {
		pthread_join(id[i], NULL);
		cr_expect(r[i].rc == 0);
	}
	cr_expect(m.made == 8);
	cache_free(c);
	return most_at_once;
}

Test(cache, counts_what_is_being_made)
{
	cr_expect(at_once(12 * MIB, 32 * MIB) == 2);
	cr_expect(at_once(33 * MIB, 32 * MIB) == 1);
	cr_expect(at_once(1 * MIB, 0) > 2);
}

Test(cache, tells_who_does_not_wait_to_come_again)
{
	struct cache *c = cache_new(32 * MIB);
	struct maker m = { .size = 20 * MIB };
	struct cache_block *held, *b;

	cr_assert(cache_get(c, 1, m.size, false, make, &m, &held) == 0);
	cr_expect(cache_get(c, 2, m.size, false, make, &m, &b) == -EAGAIN);
	cr_expect(b == NULL);
	/* The same one is there, a small one has room, a giant its own. */
	cr_expect(cache_get(c, 1, m.size, false, make, &m, &b) == 0);
	cache_put(c, b);
	m.size = MIB;
	cr_expect(cache_get(c, 3, m.size, false, make, &m, &b) == 0);
	cache_put(c, b);
	m.size = 40 * MIB;
	cr_expect(cache_get(c, 4, m.size, false, make, &m, &b) == 0);
	cache_put(c, b);
	cache_put(c, held);
	/* In use until just now; later it is not. */
	m.size = 20 * MIB;
	cr_expect(cache_get(c, 2, m.size, false, make, &m, &b) == -EAGAIN);
	usleep(200000);
	cr_expect(cache_get(c, 2, m.size, false, make, &m, &b) == 0);
	cache_put(c, b);
	cache_free(c);
}

Test(cache, drops_a_giant_that_nobody_uses)
{
	struct cache *c = cache_new(MIB);
	struct maker m = { .size = 40 * MIB };

	touch(c, 1, &m);
	cr_expect(cache_expire(c));
	touch(c, 1, &m);
	cr_expect(m.made == 1);
	usleep(1100000);
	cr_expect(!cache_expire(c));
	touch(c, 1, &m);
	cr_expect(m.made == 2);
	cache_free(c);
}
