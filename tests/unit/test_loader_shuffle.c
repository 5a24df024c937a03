/* SPDX-License-Identifier: BSD-2-Clause
 * Is shuffle a permutation for every length, and a random one?
 *
 * The main test is that of Mitchell et al., "Bandwidth-Optimal Random
 * Shuffling for GPUs" (arXiv 2106.06161): the distance between a sample of
 * permutations and the uniform distribution on permutations, as the maximum
 * mean discrepancy of the Mallows kernel exp(-lambda * d / (n(n-1)/2)), where
 * d is the number of pairs in different order. The kernel's mean under the
 * uniform distribution has a closed form, and so has its variance; a sample's
 * distance is given in standard deviations. Seeds are fixed. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "order/permute.h"
#include "order/window.h"

/* Under sanitizers everything is tenfold slower: less of the same there. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { length_step = 97, sample = 60 };
#else
enum { length_step = 1, sample = 400 };
#endif
/* Lengths up to here are all tried, beyond each of so many. */
#define SHORT_TO 20000
#define LONG_STEP (length_step > 7 ? length_step : 7)

static void fill(uint64_t n, uint64_t seed, uint64_t epoch, uint64_t *ids)
{
	struct zl_permutation p;

	zl_permutation_init(&p, n, seed, epoch);
	zl_permutation_fill(&p, zl_kernels_best(), 0, n, ids);
}

static void expect_permutation(const uint64_t *ids, uint64_t n, uint8_t *seen)
{
	uint64_t outside = 0;

	memset(seen, 0, n);
	/* 2.5 billion ids in all: one assertion for each is what took long. */
	for (uint64_t i = 0; i < n; i++)
		if (ids[i] < n)
			seen[ids[i]] = 1;
		else
			outside++;
	cr_assert(outside == 0, "%llu ids are not below %llu",
		  (unsigned long long)outside, (unsigned long long)n);
	cr_assert(memchr(seen, 0, n) == NULL, "%llu is no permutation",
		  (unsigned long long)n);
}

static void expect_lengths(uint64_t from, uint64_t to)
{
	uint64_t *ids = malloc(to * 8);
	uint8_t *seen = malloc(to);

	/* All of them take a minute: that is for the long run. */
	const uint64_t step = getenv("ZRECORD_LONG") ? 1 : LONG_STEP;

	for (uint64_t n = from; n < to; n += n < SHORT_TO ? length_step : step) {
		fill(n, n, 3, ids);
		expect_permutation(ids, n, seen);
	}
	free(ids);
	free(seen);
}

/* Four tests, so that Criterion runs them side by side. */
Test(shuffle, has_each_record_once_up_to_35000)
{
	expect_lengths(1, 35001);
}

Test(shuffle, has_each_record_once_up_to_50000)
{
	expect_lengths(35001, 50001);
}

Test(shuffle, has_each_record_once_up_to_61000)
{
	expect_lengths(50001, 61001);
}

Test(shuffle, has_each_record_once_up_to_70000)
{
	expect_lengths(61001, 70001);
}

Test(shuffle, has_each_record_once_around_powers_of_four)
{
	uint64_t top = (UINT64_C(1) << 22) + 2;
	uint64_t *ids = malloc(top * 8);
	uint8_t *seen = malloc(top);

	for (unsigned k = 0; k <= 11; k++)
		for (int d = -1; d <= 1; d++) {
			uint64_t n = (UINT64_C(1) << 2 * k) + (uint64_t)d;

			if (!n)
				continue;
			fill(n, 42, k, ids);
			expect_permutation(ids, n, seen);
		}
	free(ids);
	free(seen);
}

/* The inverse is not needed anywhere else: run the rounds backwards. */
static uint64_t invert(const struct zl_permutation *p, uint64_t v)
{
	uint64_t lo_n = p->net.lo_n, hi_n = p->net.hi_n;

	do {
		uint64_t hi = v / lo_n, lo = v % lo_n;

		for (unsigned r = ZL_ROUNDS; r; r -= 2) {
			hi += hi_n - zl_round_word(lo, p->net.key[r - 1], hi_n);
			hi %= hi_n;
			lo += lo_n - zl_round_word(hi, p->net.key[r - 2], lo_n);
			lo %= lo_n;
		}
		v = hi * lo_n + lo;
	} while (v >= p->n);
	return v;
}

Test(shuffle, is_one_to_one_for_huge_lengths)
{
	for (unsigned k = 9; k < 63; k++)
		for (int d = -1; d <= 1; d++) {
			uint64_t n = (UINT64_C(1) << k) + (uint64_t)d;
			struct zl_permutation p;
			uint64_t ids[1000];

			zl_permutation_init(&p, n, k, 0);
			for (int part = 0; part < 3; part++) {
				uint64_t first = part == 0   ? 0
						 : part == 1 ? n / 2
							     : n - 1000;
				size_t count = n < 2000 ? 100 : 1000;

				if (part == 2)
					first = n - count;
				zl_permutation_fill(&p, zl_kernels_best(),
						    first, count, ids);
				for (size_t i = 0; i < count; i++) {
					cr_assert(ids[i] < n);
					cr_assert(invert(&p, ids[i]) ==
						  first + i);
				}
			}
		}
	struct zl_permutation p;
	uint64_t id;

	zl_permutation_init(&p, ZL_PERMUTE_MAX, 1, 2);
	zl_permutation_fill(&p, zl_kernels_best(), ZL_PERMUTE_MAX - 1, 1, &id);
	cr_expect(invert(&p, id) == ZL_PERMUTE_MAX - 1);
}

/* ---- randomness ---- */

/* Pairs of `a` that are out of order; sorts it. `t` is scratch. */
static uint64_t inversions(uint32_t *a, uint32_t *t, size_t n)
{
	size_t h = n / 2, i = 0, j = h, k = 0;
	uint64_t found;

	if (n < 2)
		return 0;
	found = inversions(a, t, h) + inversions(a + h, t, n - h);
	while (i < h && j < n) {
		if (a[i] <= a[j]) {
			t[k++] = a[i++];
		} else {
			found += h - i;
			t[k++] = a[j++];
		}
	}
	while (i < h)
		t[k++] = a[i++];
	memcpy(a, t, k * sizeof(*a));
	return found;
}

/* Mean of exp(-lambda * d / pairs) for uniform permutations of n. */
static double mallows_mean(size_t n, double lambda)
{
	double q = exp(-lambda / ((double)n * (double)(n - 1) / 2)), m = 1;

	for (size_t j = 1; j <= n; j++)
		m *= (1 - pow(q, (double)j)) / ((double)j * (1 - q));
	return m;
}

/* The distance of `count` permutations from uniform, in deviations. */
static double mallows_test(size_t n, size_t count,
			   void (*make)(uint64_t n, uint64_t k, uint64_t *ids))
{
	double pairs = (double)n * (double)(n - 1) / 2, sum = 0;
	double mean = mallows_mean(n, 5), var = mallows_mean(n, 10);
	uint32_t *place = malloc(count * n * 4), *a = malloc(n * 4),
		 *t = malloc(n * 4);
	uint64_t *ids = malloc(n * 8);

	for (size_t k = 0; k < count; k++) {
		make(n, k, ids);
		for (size_t i = 0; i < n; i++)
			place[k * n + ids[i]] = (uint32_t)i;
	}
	for (size_t k = 0; k < count; k++) {
		make(n, k, ids);
		for (size_t l = 0; l < k; l++) {
			for (size_t i = 0; i < n; i++)
				a[i] = place[l * n + ids[i]];
			sum += exp(-5 * (double)inversions(a, t, n) / pairs);
		}
	}
	free(place);
	free(a);
	free(t);
	free(ids);
	pairs = (double)count * (double)(count - 1) / 2;
	return (sum / pairs - mean) / sqrt((var - mean * mean) / pairs);
}

static void by_epoch(uint64_t n, uint64_t k, uint64_t *ids)
{
	fill(n, 1234, k, ids);
}

static void by_seed(uint64_t n, uint64_t k, uint64_t *ids)
{
	fill(n, k, 0, ids);
}

static void by_both(uint64_t n, uint64_t k, uint64_t *ids)
{
	fill(n, k, k, ids);
}

/* What the test must see: a rotation by k, and four-round cyclic order is
 * known to pass at this size, so only the former is asked of it. */
static void rotations(uint64_t n, uint64_t k, uint64_t *ids)
{
	for (uint64_t i = 0; i < n; i++)
		ids[i] = (i + zl_mix(1, k, 1) % n) % n;
}

Test(shuffle, passes_the_mallows_kernel_test)
{
	size_t sizes[] = { 5, 20, 100, 257, 300, 1000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t n = sizes[i];

		cr_expect(fabs(mallows_test(n, sample, by_epoch)) < 4, "n %zu",
			  n);
		cr_expect(fabs(mallows_test(n, sample, by_seed)) < 4, "n %zu",
			  n);
		cr_expect(fabs(mallows_test(n, sample, by_both)) < 4, "n %zu",
			  n);
	}
	cr_expect(mallows_test(100, sample, rotations) > 10);
}

/* Chi-square over `bins`, in deviations of its own distribution. */
static double chi(const uint64_t *found, size_t bins, double each)
{
	double x = 0, df = (double)bins - 1;

	for (size_t i = 0; i < bins; i++)
		x += ((double)found[i] - each) * ((double)found[i] - each) /
		     each;
	return (x - df) / sqrt(2 * df);
}

Test(shuffle, gives_all_permutations_of_five_equally_often)
{
	uint64_t found[3125] = { 0 }, ids[5], used[120];
	size_t bins = 0;

	for (uint64_t k = 0; k < 120000; k++) {
		size_t code = 0;

		fill(5, 99, k, ids);
		for (int i = 0; i < 5; i++)
			code = code * 5 + ids[i];
		found[code]++;
	}
	for (size_t i = 0; i < 3125; i++)
		if (found[i])
			used[bins++] = found[i];
	cr_assert(bins == 120);
	cr_expect(fabs(chi(used, 120, 1000)) < 4);
}

/* Records in all places equally often, and neighbours in both orders. */
static void expect_flat(uint64_t n, uint64_t runs, size_t bins, size_t gaps)
{
	uint64_t *ids = malloc(n * 8), *place = calloc(bins * bins, 8);
	uint64_t *gap = calloc(gaps, 8), up = 0, fixed = 0;
	double total = (double)runs * (double)n, z;

	for (uint64_t k = 0; k < runs; k++) {
		fill(n, k % 7, k, ids);
		for (uint64_t i = 0; i < n; i++) {
			uint64_t next = ids[(i + 1) % n];

			place[i * bins / n * bins + ids[i] * bins / n]++;
			gap[(next + n - ids[i] - 1) % n * gaps / (n - 1)]++;
			up += next > ids[i];
			fixed += ids[i] == i;
		}
	}
	z = chi(place, bins * bins, total / (double)(bins * bins));
	cr_expect(fabs(z) < 5, "%llu: places %g", (unsigned long long)n, z);
	z = chi(gap, gaps, total / (double)gaps);
	cr_expect(fabs(z) < 5, "%llu: gaps %g", (unsigned long long)n, z);
	/* Eulerian: each pair rises with chance 1/2, variance n/12 a run. */
	z = ((double)up - total / 2) / sqrt(total / 12);
	cr_expect(fabs(z) < 4, "%llu: rises %g", (unsigned long long)n, z);
	z = ((double)fixed - (double)runs) / sqrt((double)runs);
	cr_expect(fabs(z) < 4, "%llu: fixed points %g", (unsigned long long)n,
		  z);
	free(ids);
	free(place);
	free(gap);
}

Test(shuffle, has_flat_places_pairs_and_gaps)
{
	/* n is a multiple of the bins and n - 1 of the gaps, so that all are
	 * equally wide. */
	expect_flat(320, 20000, 16, 11);
	expect_flat(4096, 2000, 32, 35);
	expect_flat(65536, 100, 64, 51);
	expect_flat(1000000, 10, 50, 27);
}

/* ---- window ---- */

Test(window, is_a_permutation_that_moves_less_than_the_window)
{
	uint64_t ids[600], windows[] = { 1, 2, 3, 5, 8, 64, 100, 601, 5000 };
	uint8_t seen[600];

	for (uint64_t n = 1; n <= 600; n++)
		for (size_t w = 0; w < 9; w++) {
			zl_window_fill(n, windows[w], 5, n, 0, n, ids);
			expect_permutation(ids, n, seen);
			for (uint64_t i = 0; i < n; i++) {
				uint64_t far =
					ids[i] > i ? ids[i] - i : i - ids[i];

				cr_assert(far < windows[w]);
			}
		}
}

Test(window, starts_anywhere)
{
	uint64_t whole[1000], part[10];

	zl_window_fill(1000, 64, 5, 2, 0, 1000, whole);
	for (uint64_t i = 0; i < 990; i += 7) {
		zl_window_fill(1000, 64, 5, 2, i, 10, part);
		cr_assert(!memcmp(part, whole + i, sizeof(part)));
	}
}

Test(window, mixes_about_as_far_as_it_may)
{
	static uint64_t ids[100000];
	double far = 0;

	zl_window_fill(100000, 1000, 5, 2, 0, 100000, ids);
	for (uint64_t i = 0; i < 100000; i++)
		far += fabs((double)ids[i] - (double)i);
	/* Two uniform moves within blocks of 500: a quarter of the window. */
	cr_expect(far / 100000 > 180 && far / 100000 < 300, "%g", far / 100000);
}
