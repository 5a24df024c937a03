/* SPDX-License-Identifier: BSD-2-Clause
 * Permutations of [0, n) that need no table: id p is computed from p. */
#ifndef ZL_PERMUTE_H
#define ZL_PERMUTE_H

#include "kernels.h"

/* Largest n of zl_permutation_init. */
#define ZL_PERMUTE_MAX ((uint64_t)INT64_MAX)

/* One of many permutations of [0, n), chosen by a seed and a number. */
struct zl_permutation {
	uint64_t n;
	struct zl_network net;
};

/* n is 1..ZL_PERMUTE_MAX. */
void zl_permutation_init(struct zl_permutation *p, uint64_t n, uint64_t seed,
			 uint64_t number);

/* Store the images of first, first + 1, ... */
void zl_permutation_fill(const struct zl_permutation *p,
			 const struct zl_kernels *k, uint64_t first,
			 size_t count, uint64_t *ids);

/* The image of i alone, by the network: what fill gives where n is large. */
uint64_t zl_permutation_at(const struct zl_permutation *p, uint64_t i);

/* Images of first, first + 1, ... under loaderx's cyclic permutation of
 * [0, n) for cycle `cycle`. */
void zl_cyclic_fill(const struct zl_kernels *k, uint64_t n, uint64_t seed,
		    uint64_t cycle, uint64_t first, size_t count,
		    uint64_t *ids);

#endif
