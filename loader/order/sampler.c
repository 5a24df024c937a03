/* SPDX-License-Identifier: BSD-2-Clause
 * The sampler: checks what is asked for, and draws this rank's ids. */
#include "sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "iid.h"
#include "permute.h"
#include "weights.h"
#include "window.h"

#define BATCH_MAX (UINT64_C(1) << 31)

static int check_order(const struct zl_sampling *how, uint64_t records,
		       struct zl_error *err)
{
	switch (how->order) {
	case ZL_SEQUENTIAL:
	case ZL_IID:
	case ZL_CYCLIC:
		return 0;
	case ZL_SHUFFLE:
		break;
	case ZL_WINDOW:
		if (!how->window)
			return zl_fail(err, -EINVAL,
				       "order window: the window is 0");
		break;
	case ZL_WEIGHTED:
		if (!how->weights || how->weights->count != records)
			return zl_fail(
				err, -EINVAL,
				"order weighted: %llu weights for %llu records",
				how->weights ? (unsigned long long)
						       how->weights->count
					     : 0ull,
				(unsigned long long)records);
		break;
	case ZL_CALLER:
		if (!how->index)
			return zl_fail(err, -EINVAL,
				       "order caller: no index function");
		break;
	default:
		return zl_fail(err, -EINVAL, "order %d is unknown",
			       (int)how->order);
	}
	if (records > ZL_PERMUTE_MAX)
		return zl_fail(err, -EINVAL, "over 2^63 - 1 records");
	return 0;
}

static enum zl_remainder default_remainder(const struct zl_sampling *how,
					   uint64_t records)
{
	switch (how->order) {
	case ZL_CYCLIC:
		return records < how->batch ? ZL_SHORT : ZL_DROP;
	case ZL_SHUFFLE:
	case ZL_WINDOW:
		return ZL_SHORT;
	case ZL_SEQUENTIAL:
	case ZL_IID:
	case ZL_WEIGHTED:
	case ZL_CALLER:
	default:
		return ZL_WRAP;
	}
}

/* Check *how and resolve its defaults. */
static int settle(struct zl_sampling *how, uint64_t records,
		  struct zl_error *err)
{
	int rc;

	if (!records)
		return zl_fail(err, -EINVAL, "there are no records");
	if (!how->batch || how->batch > BATCH_MAX)
		return zl_fail(err, -EINVAL,
			       "batch: 1..2^31 expected, %llu found",
			       (unsigned long long)how->batch);
	if (!how->world)
		how->world = 1;
	if (how->rank >= how->world)
		return zl_fail(err, -EINVAL, "rank %u of %u ranks", how->rank,
			       how->world);
	if ((unsigned)how->remainder > ZL_WRAP)
		return zl_fail(err, -EINVAL, "remainder %d is unknown",
			       (int)how->remainder);
	rc = check_order(how, records, err);
	if (rc)
		return rc;
	if (how->remainder == ZL_REMAINDER_DEFAULT || zl_endless(how->order))
		how->remainder = default_remainder(how, records);
	if (how->remainder == ZL_DROP && records < how->batch)
		return zl_fail(err, -EINVAL,
			       "remainder drop: %llu records are less than a "
			       "batch of %llu",
			       (unsigned long long)records,
			       (unsigned long long)how->batch);
	return 0;
}

int zl_sampler_new(struct zl_sampler **out, uint64_t records,
		   const struct zl_sampling *how, struct zl_error *err)
{
	struct zl_sampling settled;
	struct zl_sampler *s;
	int rc;

	*out = NULL;
	if (how->size != sizeof(*how))
		return zl_fail(
			err, -EINVAL,
			"struct zl_sampling: size %zu expected, %zu found",
			sizeof(*how), how->size);
	settled = *how;
	rc = settle(&settled, records, err);
	if (rc)
		return rc;
	s = calloc(1, sizeof(*s));
	if (!s)
		return zl_fail(err, -ENOMEM, "sampler: no memory");
	s->how = settled;
	s->records = records;
	s->kernels = zl_kernels_best();
	s->gen = zl_sfc_seed(settled.seed);
	*out = s;
	return 0;
}

void zl_sampler_free(struct zl_sampler *s)
{
	free(s);
}

/* First slot of rank `rank` in a batch of `count`. */
static uint64_t share(const struct zl_sampler *s, uint64_t count, uint32_t rank)
{
	return (uint64_t)((zl_u128)count * rank / s->how.world);
}

size_t zl_sampler_room(const struct zl_sampler *s)
{
	uint64_t count = s->how.batch;

	/* Ranks differ by one; the larger share at any count is this. */
	if (s->how.remainder == ZL_SHORT && s->records < count)
		count = s->records;
	return (size_t)(count / s->how.world + (count % s->how.world != 0));
}

uint64_t zl_sampler_step(const struct zl_sampler *s)
{
	return s->step;
}

static void fill_epoch(const struct zl_sampler *s, uint64_t epoch,
		       uint64_t first, size_t count, uint64_t *ids)
{
	struct zl_permutation p;

	switch (s->how.order) {
	case ZL_CYCLIC:
		zl_cyclic_fill(s->kernels, s->records, s->how.seed, epoch,
			       first, count, ids);
		return;
	case ZL_SHUFFLE:
		zl_permutation_init(&p, s->records, s->how.seed, epoch);
		zl_permutation_fill(&p, s->kernels, first, count, ids);
		return;
	case ZL_WINDOW:
		zl_window_fill(s->records, s->how.window, s->how.seed, epoch,
			       first, count, ids);
		return;
	case ZL_SEQUENTIAL:
	case ZL_IID:
	case ZL_WEIGHTED:
	case ZL_CALLER:
	default:
		for (size_t i = 0; i < count; i++)
			ids[i] = first + i;
		return;
	}
}

static int draw_caller(const struct zl_sampler *s, uint64_t step,
		       uint64_t first, size_t count, uint64_t *ids,
		       struct zl_error *err)
{
	int rc = s->how.index(s->how.index_ctx, s->records, step, first, count,
			      ids);

	if (rc)
		return zl_fail(err, rc, "step %llu: the index function failed",
			       (unsigned long long)step);
	for (size_t i = 0; i < count; i++) {
		if (ids[i] < s->records)
			continue;
		zl_fail(err, -ERANGE,
			"step %llu: the index function gave id %llu of %llu "
			"records",
			(unsigned long long)step, (unsigned long long)ids[i],
			(unsigned long long)s->records);
		if (err)
			err->record = ids[i];
		return -ERANGE;
	}
	return 0;
}

int zl_draw(const struct zl_sampler *s, uint64_t step, uint64_t first,
	    size_t count, uint64_t *ids, struct zl_error *err)
{
	struct zl_place place;
	uint64_t at, left;

	if (s->how.order == ZL_CALLER)
		return draw_caller(s, step, first, count, ids, err);
	if (s->how.order == ZL_WEIGHTED) {
		zl_weights_draw(s->how.weights, s->how.seed,
				step * s->how.batch + first, count, ids);
		return 0;
	}
	zl_sampler_place(s, step, &place);
	left = s->records - place.position;
	if (first >= left) {
		place.epoch += 1 + (first - left) / s->records;
		at = (first - left) % s->records;
	} else {
		at = place.position + first;
	}
	for (size_t i = 0, run; i < count; i += run, at = 0, place.epoch++) {
		run = count - i;
		if (run > s->records - at)
			run = (size_t)(s->records - at);
		fill_epoch(s, place.epoch, at, run, ids + i);
	}
	return 0;
}

int zl_sampler_next(struct zl_sampler *s, uint64_t *ids, size_t *count,
		    struct zl_error *err)
{
	struct zl_place place;
	uint64_t first, end;
	int rc = 0;

	zl_sampler_place(s, s->step, &place);
	first = share(s, place.count, s->how.rank);
	end = share(s, place.count, s->how.rank + 1);
	if (s->how.order == ZL_IID) {
		zl_iid_skip(&s->gen, s->records, first);
		zl_iid_draw(s->kernels, &s->gen, s->records, ids,
			    (size_t)(end - first));
		zl_iid_skip(&s->gen, s->records, place.count - end);
	} else {
		rc = zl_draw(s, s->step, first, (size_t)(end - first), ids,
			     err);
	}
	if (rc)
		return rc;
	*count = (size_t)(end - first);
	s->step++;
	return 0;
}

void zl_sampler_seek(struct zl_sampler *s, uint64_t step)
{
	if (s->how.order == ZL_IID) {
		uint64_t from = s->step;

		if (step < from) {
			s->gen = zl_sfc_seed(s->how.seed);
			from = 0;
		}
		zl_iid_skip(&s->gen, s->records, (step - from) * s->how.batch);
	}
	s->step = step;
}
