/* SPDX-License-Identifier: BSD-2-Clause
 * The sampler's fields, for the parts of the loader that share them. */
#ifndef ZL_SAMPLER_H
#define ZL_SAMPLER_H

#include "kernels.h"
#include "zloader.h"

struct zl_sampler {
	struct zl_sampling how; /* remainder and world resolved */
	uint64_t records;
	uint64_t step;
	uint64_t containers; /* identity that goes into states */
	const struct zl_kernels *kernels;
	struct zl_sfc gen; /* ZL_IID: in front of `step` */
};

/* The ids of slots [first, first + count) of the global batch of `step`, for
 * every order but ZL_IID. A pure function. */
int zl_draw(const struct zl_sampler *s, uint64_t step, uint64_t first,
	    size_t count, uint64_t *ids, struct zl_error *err);

/* True for orders whose batches are always full. */
static inline bool zl_endless(enum zl_order order)
{
	return order == ZL_IID || order == ZL_WEIGHTED || order == ZL_CALLER;
}

#endif
