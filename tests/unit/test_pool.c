/* SPDX-License-Identifier: BSD-2-Clause
 * Buffers for batches: alignment, reuse, what is kept. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "zrecord.h"

#define MIB ((size_t)1 << 20)

static struct zr_pool *make(size_t keep)
{
	struct zr_pool *pool;

	cr_assert(zr_pool_new(&pool, keep) == 0);
	return pool;
}

Test(pool, buffers_are_aligned_and_whole)
{
	static const size_t size[] = { 0,   1,       4096,        4097,
				       MIB, 2 * MIB, 2 * MIB + 1, 9 * MIB };
	struct zr_pool *pool = make(0);

	for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		unsigned char *p = zr_pool_get(pool, size[i]);
		size_t align = size[i] < 2 * MIB ? 4096 : 2 * MIB;

		cr_assert(p != NULL);
		cr_expect((uintptr_t)p % align == 0, "%zu bytes", size[i]);
		memset(p, 1, size[i]);
		zr_pool_put(pool, p);
	}
	zr_pool_put(pool, NULL);
	zr_pool_free(pool);
	zr_pool_free(NULL);
}

Test(pool, a_buffer_that_came_back_serves_again)
{
	struct zr_pool *pool = make(16 * MIB);
	void *a = zr_pool_get(pool, 8 * MIB), *b = zr_pool_get(pool, 8 * MIB);

	cr_assert(a && b && a != b);
	zr_pool_put(pool, a);
	cr_expect(zr_pool_get(pool, 7 * MIB) == a);
	zr_pool_put(pool, b);
	cr_expect(zr_pool_get(pool, MIB) != b, "a small one wastes it");
	cr_expect(zr_pool_get(pool, 8 * MIB) == b);
	zr_pool_free(pool);
}

Test(pool, no_more_than_asked_lies_unused)
{
	struct zr_pool *pool = make(8 * MIB);
	void *a = zr_pool_get(pool, 6 * MIB), *b = zr_pool_get(pool, 6 * MIB);
	void *large = zr_pool_get(pool, 10 * MIB), *c;

	/* The second one displaces the first; the large one displaces none. */
	zr_pool_put(pool, a);
	zr_pool_put(pool, b);
	c = zr_pool_get(pool, 6 * MIB);
	cr_expect(c == b);
	zr_pool_put(pool, c);
	zr_pool_put(pool, large);
	cr_expect(zr_pool_get(pool, 6 * MIB) == b);
	zr_pool_free(pool);
}

Test(pool, impossible_sizes_are_refused)
{
	struct zr_pool *pool = make(0);

	cr_expect(zr_pool_get(pool, SIZE_MAX) == NULL);
	cr_expect(zr_pool_get(pool, 1) != NULL);
	zr_pool_free(pool);
}

static void *take_and_give(void *arg)
{
	struct zr_pool *pool = arg;

	for (size_t i = 0; i < 2000; i++) {
		unsigned char *p = zr_pool_get(pool, 4096 * (1 + i % 7));

		if (!p)
			return arg;
		p[0] = p[4095] = (unsigned char)i;
		zr_pool_put(pool, p);
	}
	return NULL;
}

Test(pool, threads_share_it)
{
	struct zr_pool *pool = make(MIB);
	pthread_t thread[4];
	void *failed;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, take_and_give, pool);
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], &failed);
		cr_expect(!failed);
	}
	zr_pool_free(pool);
}
