/* SPDX-License-Identifier: BSD-2-Clause
 * Orders, remainders and ranks of the sampler, and loaderx's own streams. */
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "order/iid.h"
#include "order/permute.h"
#include "order/sampler.h"

static struct zl_sampler *make(uint64_t records, struct zl_sampling how)
{
	struct zl_sampler *s;
	struct zl_error e;
	int rc = zl_sampler_new(&s, records, &how, &e);

	cr_assert(rc == 0, "%s", e.message);
	return s;
}

static struct zl_sampling how(enum zl_order order, uint64_t batch,
			      uint64_t seed)
{
	struct zl_sampling h = ZL_SAMPLING_INIT;

	h.order = order;
	h.batch = batch;
	h.seed = seed;
	return h;
}

/* ---- golden/sampler.json ---- */

static char *read_golden(void)
{
	FILE *f = fopen(TEST_DATA "/golden/sampler.json", "r");
	char *text;
	long size;

	cr_assert(f, TEST_DATA "/golden/sampler.json is not there");
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	text = calloc((size_t)size + 1, 1);
	cr_assert(fread(text, 1, (size_t)size, f) == (size_t)size);
	fclose(f);
	return text;
}

static const char *after(const char *at, const char *key)
{
	const char *p = strstr(at, key);

	cr_assert(p, "%s is missing", key);
	return p + strlen(key);
}

static uint64_t number(const char *at, const char *key)
{
	return strtoull(after(at, key), NULL, 10);
}

/* Compare the list that starts at `at` ('[' first) with a step; returns what
 * follows it. */
static const char *expect_list(const char *at, struct zl_sampler *s,
			       const char *what)
{
	uint64_t ids[64];
	size_t count;
	char *end;

	cr_assert(*at == '[');
	cr_assert(zl_sampler_next(s, ids, &count, NULL) == 0);
	at++;
	for (size_t i = 0; i < count; i++) {
		uint64_t want = strtoull(at, &end, 10);

		cr_assert(ids[i] == want,
			  "%s: id %zu is %" PRIu64 ", not %" PRIu64, what, i,
			  ids[i], want);
		at = *end == ',' ? end + 1 : end;
	}
	cr_assert(*at == ']', "%s: more than %zu ids expected", what, count);
	return at + 1;
}

static const char *expect_stream(const char *at)
{
	static const char *names[] = { "sequential", "iid", "cyclic" };
	uint64_t length = number(at, "\"length\":");
	struct zl_sampling h = { 0 };
	struct zl_sampler *s;
	const char *p = after(at, "\"order\":\"");
	char what[160];

	h = how(ZL_SEQUENTIAL, number(at, "\"batch\":"),
		number(at, "\"seed\":"));
	while (strncmp(p, names[h.order], strlen(names[h.order])))
		h.order++;
	snprintf(what, sizeof(what),
		 "%s N=%" PRIu64 " B=%" PRIu64 " seed=%" PRIu64, names[h.order],
		 length, h.batch, h.seed);
	s = make(length, h);
	for (p = after(at, "\"steps\":["); *p != ']';) {
		p = expect_list(p, s, what);
		p += strspn(p, ", ");
	}
	for (p = after(p, "\"seek\":{"); *p != '}'; p += strspn(p, ", ")) {
		zl_sampler_seek(s, strtoull(p + 1, NULL, 10));
		p = expect_list(after(p, ":"), s, what);
	}
	zl_sampler_free(s);
	return p;
}

Test(sampler, draws_loaderx_streams)
{
	char *text = read_golden();
	const char *at = text;
	int streams = 0;

	while ((at = strstr(at, "{\"order\"")) != NULL) {
		at = expect_stream(at);
		streams++;
	}
	cr_expect(streams == 612, "%d streams", streams);
	free(text);
}

/* ---- the same ids from every kernel ---- */

Test(sampler, draws_the_same_with_every_instruction_set)
{
	static uint64_t a[5000], b[5000];
	uint64_t sizes[] = { 1,
			     2,
			     3,
			     300,
			     65537,
			     1000003,
			     4294967295u,
			     4294967296u,
			     4294967297u,
			     1ull << 43,
			     (1ull << 43) + 9,
			     1ull << 62 };
	const struct zl_kernels *plain = zl_kernels_get(0), *k;

	for (unsigned set = 1; (k = zl_kernels_get(set)); set++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			uint64_t n = sizes[i];
			size_t count = n < 5000 ? n : 5000;
			struct zl_sfc g = zl_sfc_seed(i), h = g;
			struct zl_permutation p;

			zl_iid_draw(plain, &g, n, a, 5000);
			zl_iid_draw(k, &h, n, b, 5000);
			cr_expect(!memcmp(a, b, sizeof(a)), "iid %" PRIu64, n);
			cr_expect(!memcmp(&g, &h, sizeof(g)));
			zl_cyclic_fill(plain, n, 7, i, n - count, count, a);
			zl_cyclic_fill(k, n, 7, i, n - count, count, b);
			cr_expect(!memcmp(a, b, count * 8), "cyclic %" PRIu64,
				  n);
			zl_permutation_init(&p, n, 7, i);
			zl_permutation_fill(&p, plain, n - count, count, a);
			zl_permutation_fill(&p, k, n - count, count, b);
			cr_expect(!memcmp(a, b, count * 8), "shuffle %" PRIu64,
				  n);
			for (size_t j = 0; n > 256 && j < count; j++)
				cr_assert(zl_permutation_at(
						  &p, n - count + j) == a[j]);
		}
	}
}

/* The division-free path against the rule, where redraws are common. */
Test(sampler, redraws_as_the_rule_says)
{
	uint64_t sizes[] = { (1ull << 63) + 1, 3ull << 62, UINT64_MAX,
			     (1ull << 44) - 1, 4294967295u };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		static uint64_t ids[4096];
		struct zl_sfc g = zl_sfc_seed(i), rule = g, skip = g;

		zl_iid_draw(zl_kernels_best(), &g, sizes[i], ids, 4096);
		for (size_t j = 0; j < 4096; j++) {
			uint64_t id;

			while (!zl_below(zl_sfc_next(&rule), sizes[i], &id))
				;
			cr_assert(ids[j] == id);
		}
		zl_iid_skip(&skip, sizes[i], 4096);
		cr_expect(!memcmp(&g, &rule, sizeof(g)));
		cr_expect(!memcmp(&skip, &rule, sizeof(g)));
	}
}

/* ---- remainders and ranks ---- */

/* Draw step `step` for all ranks of `world`, one after the other. */
static size_t draw_world(uint64_t records, struct zl_sampling h, uint32_t world,
			 uint64_t step, uint64_t *ids)
{
	size_t total = 0, count;

	for (uint32_t r = 0; r < world; r++) {
		struct zl_sampler *s;

		h.rank = r;
		h.world = world;
		s = make(records, h);
		zl_sampler_seek(s, step);
		cr_assert(zl_sampler_next(s, ids + total, &count, NULL) == 0);
		cr_assert(count <= zl_sampler_room(s));
		total += count;
		zl_sampler_free(s);
	}
	return total;
}

static int any_index(void *ctx, uint64_t records, uint64_t step, uint64_t first,
		     size_t count, uint64_t *ids)
{
	(void)ctx;
	for (size_t i = 0; i < count; i++)
		ids[i] = (step * 31 + (first + i) * 17) % records;
	return 0;
}

Test(sampler, splits_every_order_among_ranks)
{
	uint64_t weights[37], one[64], split[64];
	struct zl_weights *w;

	for (uint64_t i = 0; i < 37; i++)
		weights[i] = i;
	cr_assert(zl_weights_new(&w, weights, 37, NULL) == 0);
	for (enum zl_order order = ZL_SEQUENTIAL; order <= ZL_CALLER; order++)
		for (int rem = ZL_REMAINDER_DEFAULT; rem <= ZL_WRAP; rem++)
			for (uint64_t step = 0; step < 30; step++)
				for (uint32_t world = 2; world <= 11; world++) {
					struct zl_sampling h =
						how(order, 10, 5);
					size_t a, b;

					h.remainder = (enum zl_remainder)rem;
					h.window = 9;
					h.weights = w;
					h.index = any_index;
					a = draw_world(37, h, 1, step, one);
					b = draw_world(37, h, world, step,
						       split);
					cr_assert(a == b && !memcmp(one, split,
								    a * 8),
						  "order %d remainder %d",
						  (int)order, rem);
				}
	zl_weights_free(w);
}

/* Each epoch has each record once, whatever the policy says of the tail. */
static void expect_epochs(enum zl_order order, enum zl_remainder rem,
			  uint64_t records, uint64_t batch)
{
	struct zl_sampling h = how(order, batch, 3);
	uint64_t *ids, *times = calloc(records * 4, 8), steps = 0, at = 0;
	struct zl_sampler *s;
	struct zl_place place;
	size_t count;

	h.remainder = rem;
	h.window = 12;
	s = make(records, h);
	ids = calloc(zl_sampler_room(s), 8);
	while (at < 3 * records) {
		zl_sampler_place(s, steps++, &place);
		cr_assert(zl_sampler_next(s, ids, &count, NULL) == 0);
		cr_assert(count == place.count && count > 0);
		if (rem != ZL_WRAP)
			at = place.epoch * records + place.position;
		cr_assert(rem == ZL_SHORT || count == batch);
		cr_assert(place.epoch == at / records &&
			  place.position == at % records);
		for (size_t i = 0; i < count && at < 4 * records; i++, at++)
			times[at / records * records + ids[i]]++;
		if (rem == ZL_DROP && records % batch &&
		    records - at % records < batch)
			at += records - at % records;
	}
	for (uint64_t i = 0; i < 3 * records; i++)
		cr_assert(times[i] == 1 || (rem == ZL_DROP && !times[i]),
			  "order %d, %" PRIu64 " records by %" PRIu64
			  ": record %" PRIu64 " %" PRIu64 " times",
			  (int)order, records, batch, i, times[i]);
	free(times);
	free(ids);
	zl_sampler_free(s);
}

Test(sampler, covers_every_epoch)
{
	enum zl_order orders[] = { ZL_SEQUENTIAL, ZL_CYCLIC, ZL_SHUFFLE,
				   ZL_WINDOW };

	for (size_t o = 0; o < 4; o++)
		for (uint64_t n = 1; n < 70; n++)
			for (uint64_t b = 1; b < 80; b += 3) {
				expect_epochs(orders[o], ZL_SHORT, n, b);
				expect_epochs(orders[o], ZL_WRAP, n, b);
				if (b <= n)
					expect_epochs(orders[o], ZL_DROP, n, b);
			}
}

Test(sampler, refuses_what_it_cannot_do)
{
	struct zl_sampling h = how(ZL_SHUFFLE, 8, 0), bad;
	struct zl_sampler *s;
	struct zl_error e;

#define REFUSES(records, change)                                               \
	do {                                                                   \
		bad = h;                                                       \
		change;                                                        \
		cr_expect(zl_sampler_new(&s, records, &bad, &e) == -EINVAL,    \
			  #change);                                            \
		cr_expect(s == NULL && e.code == -EINVAL && e.message[0]);     \
	} while (0)
	REFUSES(0, (void)0);
	REFUSES(9, bad.size = 3);
	REFUSES(9, bad.batch = 0);
	REFUSES(9, bad.batch = (1ull << 31) + 1);
	REFUSES(9, (bad.rank = 2, bad.world = 2));
	REFUSES(9, bad.order = (enum zl_order)99);
	REFUSES(9, bad.remainder = (enum zl_remainder)9);
	REFUSES(9, bad.order = ZL_WINDOW);
	REFUSES(9, bad.order = ZL_WEIGHTED);
	REFUSES(9, bad.order = ZL_CALLER);
	REFUSES(7, bad.remainder = ZL_DROP);
	REFUSES(1ull << 63, (void)0);
}

static int bad_index(void *ctx, uint64_t records, uint64_t step, uint64_t first,
		     size_t count, uint64_t *ids)
{
	int *rc = ctx;

	(void)step;
	(void)first;
	for (size_t i = 0; i < count; i++)
		ids[i] = records;
	return *rc;
}

Test(sampler, passes_errors_of_an_index_function_on)
{
	struct zl_sampling h = how(ZL_CALLER, 4, 0);
	struct zl_error e;
	uint64_t ids[4];
	size_t count;
	int rc = -EIO;
	struct zl_sampler *s;

	h.index = bad_index;
	h.index_ctx = &rc;
	s = make(9, h);
	cr_expect(zl_sampler_next(s, ids, &count, &e) == -EIO);
	rc = 0;
	cr_expect(zl_sampler_next(s, ids, &count, &e) == -ERANGE);
	cr_expect(e.record == 9);
	cr_expect(zl_sampler_step(s) == 0);
	zl_sampler_free(s);
}
