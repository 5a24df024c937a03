/* SPDX-License-Identifier: BSD-2-Clause
 * The inner loops of the orders, compiled once per instruction set. */
#include "kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Keep the compiler from reordering the sum of a word. b + n is known before a
 * is, and n + j would be an address with three parts, which takes longer: any
 * other way makes the chain of words longer. */
#define KEEP(x) __asm__("" : "+r"(x))

/* The next ZL_IID_BLOCK words of SFC64. One stream is one chain of dependent
 * words, over two cycles each: no vector helps here. */
ZL_INLINE void make_words(struct zl_sfc *s, uint64_t *out)
{
	uint64_t a = s->a, b = s->b, c = s->c, n = s->n;

#pragma GCC unroll 8
	for (unsigned j = 0; j < ZL_IID_BLOCK; j++) {
		uint64_t bn = b + n, t;

		KEEP(bn);
		t = bn + a;
		KEEP(t);
		n++;
		KEEP(n);
		a = b ^ (b >> 11);
		b = c + (c << 3);
		c = (c << 24 | c >> 40) + t;
		out[j] = t;
	}
	*s = (struct zl_sfc){ a, b, c, n };
}

/* Words to ids, in place. False if one of them may have to be redrawn. */
ZL_INLINE bool words_below(uint64_t n, uint64_t *v)
{
	for (unsigned j = 0; j < ZL_IID_BLOCK; j++) {
		zl_u128 m = (zl_u128)v[j] * n;

		if (__builtin_expect((uint64_t)m < n, 0))
			return false;
		v[j] = (uint64_t)(m >> 64);
	}
	return true;
}

ZL_INLINE void shuffle_lanes(const struct zl_network *net, uint64_t *hi,
			     uint64_t *lo)
{
	for (unsigned j = 0; j < ZL_LANES; j++)
		zl_network_run(net, &hi[j], &lo[j]);
}

ZL_INLINE void cyclic_lanes(uint64_t seed, unsigned half, uint64_t *v)
{
	uint64_t mask = (UINT64_C(1) << half) - 1;

	for (unsigned j = 0; j < ZL_LANES; j++) {
		uint64_t l = v[j] >> half, r = v[j] & mask;

		for (unsigned round = 0; round < 4; round++) {
			uint64_t t = l ^ (zl_mix(seed, r, round) & mask);

			l = r;
			r = t;
		}
		v[j] = l << half | r;
	}
}

/* The products run one block behind the words, beside the chain. */
static bool iid_portable(struct zl_sfc *gen, uint64_t n, uint64_t *ids,
			 size_t count)
{
	struct zl_sfc s = *gen;

	if (!count)
		return true;
	make_words(&s, ids);
	for (size_t i = 0; i < count; i += ZL_IID_BLOCK) {
		if (i + ZL_IID_BLOCK < count)
			make_words(&s, ids + i + ZL_IID_BLOCK);
		if (!words_below(n, ids + i))
			return false;
	}
	*gen = s;
	return true;
}

static void cyclic_portable(uint64_t seed, unsigned half, uint64_t *v)
{
	cyclic_lanes(seed, half, v);
}

static void shuffle_portable(const struct zl_network *net, uint64_t *hi,
			     uint64_t *lo)
{
	shuffle_lanes(net, hi, lo);
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2,bmi2")))
#define AVX512 __attribute__((target("avx2,bmi2,avx512f,avx512dq,avx512vl")))

/* words_below for n < 2^32, four words at a time: two 32 x 32 products, and
 * a word is suspect if the low half of the whole product is below 2^32. */
AVX2 static inline __m256i words_below_avx2(__m256i n, uint64_t *v,
					    __m256i suspect)
{
	__m256i x = _mm256_loadu_si256((const __m256i *)v);
	__m256i low = _mm256_mul_epu32(x, n);
	__m256i high = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), n);

	high = _mm256_add_epi64(high, _mm256_srli_epi64(low, 32));
	_mm256_storeu_si256((__m256i *)v, _mm256_srli_epi64(high, 32));
	return _mm256_or_si256(
		suspect, _mm256_cmpeq_epi32(high, _mm256_setzero_si256()));
}

AVX2 static bool iid_avx2(struct zl_sfc *gen, uint64_t n, uint64_t *ids,
			  size_t count)
{
	__m256i bad = _mm256_setzero_si256();
	__m256i nn = _mm256_set1_epi64x((long long)n);
	struct zl_sfc s = *gen;

	if (n >> 32 || !count)
		return iid_portable(gen, n, ids, count);
	make_words(&s, ids);
	for (size_t i = 0; i < count; i += ZL_IID_BLOCK) {
		if (i + ZL_IID_BLOCK < count)
			make_words(&s, ids + i + ZL_IID_BLOCK);
		bad = words_below_avx2(nn, ids + i, bad);
		bad = words_below_avx2(nn, ids + i + 4, bad);
	}
	*gen = s;
	/* The upper 32 bits of a lane are the id, which may well be 0. */
	return !(_mm256_movemask_epi8(bad) & 0x0f0f0f0f);
}

AVX2 static void cyclic_avx2(uint64_t seed, unsigned half, uint64_t *v)
{
	cyclic_lanes(seed, half, v);
}

AVX2 static void shuffle_avx2(const struct zl_network *net, uint64_t *hi,
			      uint64_t *lo)
{
	shuffle_lanes(net, hi, lo);
}

AVX512 static void cyclic_avx512(uint64_t seed, unsigned half, uint64_t *v)
{
	cyclic_lanes(seed, half, v);
}

AVX512 static void shuffle_avx512(const struct zl_network *net, uint64_t *hi,
				  uint64_t *lo)
{
	shuffle_lanes(net, hi, lo);
}
#endif

static const struct zl_kernels sets[] = {
	{ iid_portable, cyclic_portable, shuffle_portable },
#if defined(__x86_64__)
	{ iid_avx2, cyclic_avx2, shuffle_avx2 },
	{ iid_avx2, cyclic_avx512, shuffle_avx512 },
#endif
};

static unsigned usable_sets(void)
{
#if defined(__x86_64__)
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2"))
		return 1;
	/* avx512dq multiplies 64-bit lanes, which AVX2 does in ten steps. */
	if (!__builtin_cpu_supports("avx512dq") ||
	    !__builtin_cpu_supports("avx512vl"))
		return 2;
	return 3;
#else
	return 1;
#endif
}

const struct zl_kernels *zl_kernels_get(unsigned i)
{
	return i < usable_sets() ? &sets[i] : NULL;
}

const struct zl_kernels *zl_kernels_best(void)
{
	return &sets[usable_sets() - 1];
}
