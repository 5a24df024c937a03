/* SPDX-License-Identifier: BSD-2-Clause
 * Is the alias table exact, and are draws from it? */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "order/random.h"
#include "scratch.h"
#include "order/weights.h"

/* Units of record i over all buckets must be count * weight. */
static void expect_exact(const uint64_t *weights, uint64_t count)
{
	zl_u128 *units = calloc(count, sizeof(*units));
	struct zl_weights *w;

	cr_assert(zl_weights_new(&w, weights, count, NULL) == 0);
	for (uint64_t i = 0; i < count; i++) {
		const struct zl_bucket *b = &w->bucket[i];

		cr_assert(b->own <= w->sum && b->alias < count);
		units[i] += b->own;
		units[b->alias] += w->sum - b->own;
	}
	for (uint64_t i = 0; i < count; i++)
		cr_assert(units[i] == (zl_u128)weights[i] * count);
	zl_weights_free(w);
	free(units);
}

Test(weights, are_exact)
{
	uint64_t v[500];

	for (uint64_t round = 0; round < 3000; round++) {
		uint64_t n = 1 + zl_mix(1, round, 1) % 500;

		for (uint64_t i = 0; i < n; i++) {
			uint64_t x = zl_mix(2, round * 500 + i, 2);

			v[i] = x % 3 ? x >> (round % 45 + 12) : 0;
		}
		v[n - 1] |= 1;
		expect_exact(v, n);
	}
	v[0] = INT64_MAX;
	expect_exact(v, 1);
	memset(v, 0, sizeof(v));
	v[499] = INT64_MAX - 1;
	v[0] = 1;
	expect_exact(v, 500);
}

Test(weights, draw_in_proportion)
{
	enum { n = 100, draws = 1000000 };
	uint64_t v[n], found[n] = { 0 };
	static uint64_t ids[draws];
	struct zl_weights *w;
	double chi = 0;

	for (uint64_t i = 0; i < n; i++)
		v[i] = i * i;
	cr_assert(zl_weights_new(&w, v, n, NULL) == 0);
	zl_weights_draw(w, 7, 1000, draws, ids);
	for (size_t i = 0; i < draws; i++)
		found[ids[i]]++;
	for (size_t i = 1; i < n; i++) {
		double want = draws * (double)v[i] / (double)w->sum;

		chi += ((double)found[i] - want) * ((double)found[i] - want) /
		       want;
	}
	cr_expect(found[0] == 0);
	cr_expect(fabs(chi - 98) < 4 * sqrt(2 * 98.0), "chi %g", chi);
	zl_weights_free(w);
}

Test(weights, reach_beyond_2_to_24_records)
{
	uint64_t n = (UINT64_C(1) << 24) + 1000, *v = malloc(n * 8);
	struct zl_weights *w;
	uint64_t ids[1000];

	memset(v, 0, n * 8);
	for (uint64_t i = n - 1000; i < n; i++)
		v[i] = 1;
	cr_assert(zl_weights_new(&w, v, n, NULL) == 0);
	zl_weights_draw(w, 1, 0, 1000, ids);
	for (size_t i = 0; i < 1000; i++)
		cr_assert(ids[i] >= n - 1000 && ids[i] < n);
	zl_weights_free(w);
	free(v);
}

Test(weights, refuse_sums_they_cannot_hold)
{
	uint64_t v[2] = { 0, 0 }, over[2] = { INT64_MAX, 1 };
	struct zl_weights *w;
	struct zl_error e;

	cr_expect(zl_weights_new(&w, v, 2, &e) == -EINVAL && !w);
	cr_expect(zl_weights_new(&w, v, 0, &e) == -EINVAL && !w);
	cr_expect(zl_weights_new(&w, over, 2, &e) == -EINVAL && !w);
	zl_weights_free(NULL);
}

/* A .npy file of `count` items of `size` bytes. */
static const char *put(struct scratch *s, const char *dtype, const void *data,
		       size_t size, uint64_t count)
{
	const char *path = scratch_path(s, "w.npy");
	struct zr_dtype d;
	struct zr_shape shape = { 1, { count } };
	char header[ZR_NPY_HEADER_MAX];
	size_t len;
	FILE *f = fopen(path, "w");

	cr_assert(zr_dtype_parse(&d, dtype, strlen(dtype)) == 0);
	cr_assert(zr_npy_header(header, sizeof(header), &len, &d, &shape) == 0);
	fwrite(header, 1, len, f);
	fwrite(data, size, count, f);
	fclose(f);
	return path;
}

Test(weights, load_from_npy_files)
{
	uint8_t u1[] = { 1, 0, 3 };
	int32_t i4[] = { 1, 0, 3 }, neg[] = { 1, -1, 3 };
	unsigned char big[] = { 0, 1, 0, 0, 0, 3 };
	double f8[] = { 1, 0, 3 }, nan8[] = { 1, (double)NAN };
	float f4[] = { 0.5f, 0, 1.5f };
	struct {
		const char *dtype;
		const void *data;
		size_t size, count;
		int rc;
	} rows[] = {
		{ "|u1", u1, 1, 3, 0 },         { "<i4", i4, 4, 3, 0 },
		{ ">u2", big, 2, 3, 0 },        { "<f8", f8, 8, 3, 0 },
		{ "<f4", f4, 4, 3, 0 },         { "<i4", neg, 4, 3, -EINVAL },
		{ "<f8", nan8, 8, 2, -EINVAL }, { "<c8", f8, 8, 3, -ENOTSUP },
		{ "<f8", f8, 8, 0, -EINVAL },
	};
	struct zl_weights *w;
	struct zl_error e;
	struct scratch s;

	scratch_make(&s);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *path = put(&s, rows[i].dtype, rows[i].data,
				       rows[i].size, rows[i].count);
		int rc = zl_weights_load(&w, path, &e);

		cr_expect(rc == rows[i].rc, "row %zu: %d", i, rc);
		if (rc == 0)
			cr_expect(w->count == 3 && w->bucket[1].own == 0 &&
					  (double)w->sum > 0,
				  "row %zu", i);
		zl_weights_free(w);
	}
	cr_assert(truncate(put(&s, "<f8", f8, 8, 3), 140) == 0);
	cr_expect(zl_weights_load(&w, scratch_path(&s, "w.npy"), &e) ==
		  -EUCLEAN);
	cr_assert(truncate(scratch_path(&s, "w.npy"), 7) == 0);
	cr_expect(zl_weights_load(&w, scratch_path(&s, "w.npy"), &e) ==
		  -EUCLEAN);
	cr_expect(zl_weights_load(&w, scratch_path(&s, "none"), &e) == -ENOENT);
	cr_expect(strstr(e.message, "none") != NULL);
	cr_expect(zl_weights_load(&w, s.dir, &e) == -EINVAL);
	scratch_remove(&s);
}
