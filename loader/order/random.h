/* SPDX-License-Identifier: BSD-2-Clause
 * The random words of all orders: loaderx's mixer and SFC64, and the exact
 * draw below a bound. */
#ifndef ZL_RANDOM_H
#define ZL_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/* Wide products; ISO C has no type for them. */
__extension__ typedef unsigned __int128 zl_u128;

/* Word number (v, round) of the family `seed`. Part of loaderx's cyclic
 * order, so its bits are fixed for ever. */
static inline uint64_t zl_mix(uint64_t seed, uint64_t v, uint64_t round)
{
	uint64_t z =
		seed ^ v * 0x9E3779B97F4A7C15u ^ round * 0xD1B54A32D192ED03u;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

struct zl_sfc {
	uint64_t a, b, c, n;
};

static inline uint64_t zl_sfc_next(struct zl_sfc *s)
{
	uint64_t t = s->a + s->b + s->n++;

	s->a = s->b ^ (s->b >> 11);
	s->b = s->c + (s->c << 3);
	s->c = (s->c << 24 | s->c >> 40) + t;
	return t;
}

static inline struct zl_sfc zl_sfc_seed(uint64_t seed)
{
	struct zl_sfc s = { seed, seed, seed, 1 };

	for (int i = 0; i < 12; i++)
		zl_sfc_next(&s);
	return s;
}

/* Turn the word x into a number below n, in *out. False: x is one of the few
 * words that would make some numbers likelier; take another (Lemire). */
static inline bool zl_below(uint64_t x, uint64_t n, uint64_t *out)
{
	zl_u128 m = (zl_u128)x * n;

	*out = (uint64_t)(m >> 64);
	return (uint64_t)m >= n || (uint64_t)m >= (0 - n) % n;
}

#endif
