/* SPDX-License-Identifier: BSD-2-Clause
 * Exact draws by integer weights from an alias table (Walker, Vose). */
#include "weights.h"

#include <errno.h>
#include <stdlib.h>

#include "base/fail.h"
#include "random.h"

/* While the table is built an unfinished bucket holds what is left of its
 * record's count * weight units, high half in `alias`. Products stay below
 * 2^126, so the top bit tells the finished ones. */
#define FINISHED (UINT64_C(1) << 63)

static zl_u128 left_get(const struct zl_bucket *b)
{
	return (zl_u128)b->alias << 64 | b->own;
}

static void left_set(struct zl_bucket *b, zl_u128 left)
{
	b->own = (uint64_t)left;
	b->alias = (uint64_t)(left >> 64);
}

/* Fill each bucket that its record leaves partly empty from a record that
 * has too much. `small` and `large` only go up, so that the walk is O(n) and
 * needs no lists; a record that becomes too small behind `small` is taken at
 * once. */
static void fill_buckets(struct zl_weights *w)
{
	struct zl_bucket *b = w->bucket;
	uint64_t small = 0, large = 0, at;

	for (;;) {
		while (small < w->count && left_get(&b[small]) >= w->sum)
			small++;
		if (small == w->count)
			return;
		for (at = small++;;) {
			zl_u128 left;

			while (b[large].alias & FINISHED ||
			       left_get(&b[large]) < w->sum)
				large++;
			left = left_get(&b[large]) - (w->sum - b[at].own);
			b[at].alias = large | FINISHED;
			left_set(&b[large], left);
			if (left >= w->sum || large >= small)
				break;
			at = large;
		}
	}
}

static void build(struct zl_weights *w)
{
	fill_buckets(w);
	for (uint64_t i = 0; i < w->count; i++) {
		struct zl_bucket *b = &w->bucket[i];

		if (b->alias & FINISHED) {
			b->alias &= ~FINISHED;
		} else {
			b->own = w->sum;
			b->alias = i;
		}
	}
}

int zl_weights_new(struct zl_weights **out, const uint64_t *weights,
		   uint64_t count, struct zl_error *err)
{
	struct zl_weights *w;
	uint64_t sum = 0, identity = count;

	*out = NULL;
	for (uint64_t i = 0; i < count; i++) {
		if (weights[i] > INT64_MAX - sum)
			return zl_fail(err, -EINVAL,
				       "weights: their sum is over 2^63 - 1");
		sum += weights[i];
		identity = zl_mix(identity, weights[i], 9);
	}
	if (!sum)
		return zl_fail(err, -EINVAL, "weights: no weight is above 0");
	w = calloc(1, sizeof(*w));
	if (w)
		w->bucket = calloc(count, sizeof(*w->bucket));
	if (!w || !w->bucket) {
		free(w);
		return zl_fail(err, -ENOMEM, "weights: no memory");
	}
	w->count = count;
	w->sum = sum;
	w->identity = identity ? identity : 1;
	for (uint64_t i = 0; i < count; i++)
		left_set(&w->bucket[i], (zl_u128)count * weights[i]);
	build(w);
	*out = w;
	return 0;
}

void zl_weights_free(struct zl_weights *w)
{
	if (!w)
		return;
	free(w->bucket);
	free(w);
}

void zl_weights_draw(const struct zl_weights *w, uint64_t seed, uint64_t first,
		     size_t count, uint64_t *ids)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t bucket, unit, round = 16;

		while (!zl_below(zl_mix(seed, first + i, round), w->count,
				 &bucket))
			round++;
		while (!zl_below(zl_mix(seed, first + i, ++round), w->sum,
				 &unit))
			;
		ids[i] = unit < w->bucket[bucket].own ? bucket
						      : w->bucket[bucket].alias;
	}
}
