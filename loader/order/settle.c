/* SPDX-License-Identifier: BSD-2-Clause
 * Checks what is asked of a sampler, and creates it. */
#include <errno.h>
#include <stdlib.h>

#include "base/fail.h"
#include "permute.h"
#include "sampler.h"
#include "weights.h"

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
