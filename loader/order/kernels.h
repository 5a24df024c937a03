/* SPDX-License-Identifier: BSD-2-Clause
 * The inner loops of the orders, compiled once per instruction set. All sets
 * give the same ids: they run the same C, or the same integer arithmetic. */
#ifndef ZL_KERNELS_H
#define ZL_KERNELS_H

#include <stddef.h>

#include "random.h"

#define ZL_LANES 64u    /* numbers that a permutation kernel takes */
#define ZL_IID_BLOCK 8u /* an iid kernel draws a multiple of this */
#define ZL_ROUNDS 8u    /* of the shuffle network */

/* A permutation network over [0, hi_n) x [0, lo_n). */
struct zl_network {
	uint64_t hi_n, lo_n; /* at most 2^32 each */
	uint64_t key[ZL_ROUNDS];
};

/* Inlined even without optimisation: the body must be compiled for the
 * instruction set of the function it stands in. */
#define ZL_INLINE static inline __attribute__((always_inline))

/* A word made of `x` and a key, scaled to [0, n). */
ZL_INLINE uint64_t zl_round_word(uint64_t x, uint64_t key, uint64_t n)
{
	uint64_t z = (x + key) * 0xBF58476D1CE4E5B9u;

	z = (z ^ (z >> 32)) * 0x94D049BB133111EBu;
	return ((z >> 32) * n) >> 32;
}

/* Each round shifts one half by a word that depends on the other: one to one
 * whatever the word is. */
ZL_INLINE void zl_network_run(const struct zl_network *net, uint64_t *hi,
			      uint64_t *lo)
{
	uint64_t h = *hi, l = *lo;

	for (unsigned r = 0; r < ZL_ROUNDS; r += 2) {
		l += zl_round_word(h, net->key[r], net->lo_n);
		l -= l >= net->lo_n ? net->lo_n : 0;
		h += zl_round_word(l, net->key[r + 1], net->hi_n);
		h -= h >= net->hi_n ? net->hi_n : 0;
	}
	*hi = h;
	*lo = l;
}

struct zl_kernels {
	/* Draw `count` ids below n. False: a word may have to be redrawn;
	 * then the ids and *gen are of no use. */
	bool (*iid)(struct zl_sfc *gen, uint64_t n, uint64_t *ids,
		    size_t count);

	/* Permute ZL_LANES numbers of 2 * half bits by loaderx's network. */
	void (*cyclic)(uint64_t seed, unsigned half, uint64_t *v);

	/* Permute ZL_LANES pairs. */
	void (*shuffle)(const struct zl_network *net, uint64_t *hi,
			uint64_t *lo);
};

/* The sets of this build, the plainest first; NULL from the first index on
 * that this CPU has not. */
const struct zl_kernels *zl_kernels_get(unsigned i);

/* The fastest set of this CPU. */
const struct zl_kernels *zl_kernels_best(void);

#endif
