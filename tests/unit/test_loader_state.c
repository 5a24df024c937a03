/* SPDX-License-Identifier: BSD-2-Clause
 * A restored sampler goes on as if nothing had happened, or says why not. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "zloader.h"

enum { records = 53, batch = 8, steps = 60 };

static struct zl_weights *weights;

static int index_fn(void *ctx, uint64_t n, uint64_t step, uint64_t first,
		    size_t count, uint64_t *ids)
{
	(void)ctx;
	for (size_t i = 0; i < count; i++)
		ids[i] = (step * 7 + first + i) % n;
	return 0;
}

static struct zl_sampling how(int order, int remainder, uint32_t rank,
			      uint32_t world)
{
	struct zl_sampling h = ZL_SAMPLING_INIT;

	h.order = (enum zl_order)order;
	h.remainder = (enum zl_remainder)remainder;
	h.batch = batch;
	h.seed = 77;
	h.rank = rank;
	h.world = world;
	h.window = 11;
	h.weights = weights;
	h.index = index_fn;
	return h;
}

static struct zl_sampler *make(struct zl_sampling h)
{
	struct zl_sampler *s;

	cr_assert(zl_sampler_new(&s, records, &h, NULL) == 0);
	return s;
}

static void setup(void)
{
	uint64_t v[records];

	for (uint64_t i = 0; i < records; i++)
		v[i] = i + 1;
	cr_assert(zl_weights_new(&weights, v, records, NULL) == 0);
}

static void teardown(void)
{
	zl_weights_free(weights);
}

TestSuite(loader_state, .init = setup, .fini = teardown);

/* The next steps of a run restored on `world` ranks, against `want`. */
static void expect_rest(const struct zl_state *state, int order, int rem,
			uint32_t world, uint64_t (*want)[batch],
			const size_t *want_count)
{
	struct zl_sampler *s[batch + 1];

	for (uint32_t r = 0; r < world; r++) {
		s[r] = make(how(order, rem, r, world));
		cr_assert(zl_sampler_restore(s[r], state, NULL) == 0);
	}
	for (uint64_t k = state->step; k < state->step + 10; k++) {
		uint64_t got[2 * batch];
		size_t total = 0, count;

		for (uint32_t r = 0; r < world; r++) {
			cr_assert(zl_sampler_step(s[r]) == k);
			zl_sampler_next(s[r], got + total, &count, NULL);
			total += count;
		}
		cr_assert(total == want_count[k] &&
				  !memcmp(got, want[k], total * 8),
			  "order %d remainder %d world %u step %d", order, rem,
			  world, (int)k);
	}
	for (uint32_t r = 0; r < world; r++)
		zl_sampler_free(s[r]);
}

Test(loader_state, restores_every_order_at_every_step_on_any_world)
{
	for (int order = ZL_SEQUENTIAL; order <= ZL_CALLER; order++)
		for (int rem = ZL_REMAINDER_DEFAULT; rem <= ZL_WRAP; rem++) {
			static uint64_t want[steps + 10][batch];
			static struct zl_state at[steps + 10];
			size_t count[steps + 10];
			struct zl_sampler *s = make(how(order, rem, 0, 1));

			for (int k = 0; k < steps + 10; k++) {
				zl_sampler_save(s, &at[k]);
				zl_sampler_next(s, want[k], &count[k], NULL);
			}
			zl_sampler_free(s);
			for (int k = 0; k < steps; k++)
				for (uint32_t w = 1; w <= batch + 1; w++)
					expect_rest(&at[k], order, rem, w, want,
						    count);
		}
}

static void expect_stale(struct zl_sampling h, const struct zl_state *state,
			 const char *reason)
{
	struct zl_sampler *s = make(h);
	struct zl_error e;

	zl_sampler_seek(s, 5);
	cr_expect(zl_sampler_restore(s, state, &e) == -ESTALE, "%s", reason);
	cr_expect(strstr(e.message, reason), "%s: %s", reason, e.message);
	cr_expect(zl_sampler_step(s) == 5);
	zl_sampler_free(s);
}

Test(loader_state, refuses_what_does_not_fit_and_says_why)
{
	struct zl_sampling h = how(ZL_WINDOW, ZL_SHORT, 0, 1), other;
	struct zl_sampler *s = make(h);
	struct zl_state state, bad;
	uint64_t one[records] = { 1 };
	struct zl_weights *w;

	zl_sampler_save(s, &state);
	zl_sampler_free(s);
#define STALE(change, reason)                                                  \
	do {                                                                   \
		other = h;                                                     \
		change;                                                        \
		expect_stale(other, &state, reason);                           \
	} while (0)
	STALE(other.seed = 1, "seed");
	STALE(other.batch = 9, "batch");
	STALE(other.window = 12, "window");
	STALE(other.remainder = ZL_WRAP, "remainder");
	STALE(other.order = ZL_SHUFFLE, "order");
	for (size_t i = 0; i < sizeof(state); i++) {
		bad = state;
		((unsigned char *)&bad)[i] ^= 1;
		expect_stale(h, &bad, i < 4 ? "version" : "damaged");
	}
	h = how(ZL_WEIGHTED, 0, 0, 1);
	s = make(h);
	zl_sampler_save(s, &state);
	zl_sampler_free(s);
	cr_assert(zl_weights_new(&w, one, records, NULL) == 0);
	STALE(other.weights = w, "weights");
	zl_weights_free(w);
}

Test(loader_state, refuses_other_lengths)
{
	struct zl_sampling h = how(ZL_SHUFFLE, 0, 0, 1);
	struct zl_sampler *s;
	struct zl_state state;
	struct zl_error e;

	cr_assert(zl_sampler_new(&s, records + 1, &h, NULL) == 0);
	zl_sampler_save(s, &state);
	zl_sampler_free(s);
	s = make(h);
	cr_expect(zl_sampler_restore(s, &state, &e) == -ESTALE);
	cr_expect(strstr(e.message, "54 there and 53 here"), "%s", e.message);
	zl_sampler_free(s);
}
