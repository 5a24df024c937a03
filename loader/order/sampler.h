/* SPDX-License-Identifier: BSD-2-Clause
 * The room order: which records a step has, from numbers alone; no threads,
 * no records. Here are the sampler's fields, which its files share. */
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

/* True for orders whose batches are always full. */
static inline bool zl_endless(enum zl_order order)
{
	return order == ZL_IID || order == ZL_WEIGHTED || order == ZL_CALLER;
}

#endif
