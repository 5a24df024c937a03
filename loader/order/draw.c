/* SPDX-License-Identifier: BSD-2-Clause
 * Draws this rank's ids of a step. */
#include <errno.h>

#include "base/fail.h"
#include "iid.h"
#include "permute.h"
#include "sampler.h"
#include "weights.h"
#include "window.h"

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
		return zl_fail_callback(err, rc, step, "index function");
	for (size_t i = 0; i < count; i++) {
		if (ids[i] < s->records)
			continue;
		zl_fail(err, -ERANGE,
			"step %llu: the index function gave id %llu of %llu "
			"records",
			(unsigned long long)step, (unsigned long long)ids[i],
			(unsigned long long)s->records);
		if (err) {
			err->step = step;
			err->record = ids[i];
		}
		return -ERANGE;
	}
	return 0;
}

/* The ids of slots [first, first + count) of the global batch of `step`, for
 * every order but ZL_IID. A pure function. */
static int draw(const struct zl_sampler *s, uint64_t step, uint64_t first,
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
		rc = draw(s, s->step, first, (size_t)(end - first), ids, err);
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
