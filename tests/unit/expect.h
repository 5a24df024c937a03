/* SPDX-License-Identifier: BSD-2-Clause
 * What a reader must find in tests/data/golden and tests/data/bad: the tables
 * that tests/data/make_expect.py makes. TEST_DATA is their folder. */
#ifndef EXPECT_H
#define EXPECT_H

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sha256.h"
#include "zrecord.h"

struct expect_record {
	struct zr_shape shape;
	char sha256[65]; /* of the .npy file */
};

struct expect_container {
	char name[64];
	char kind[16];
	char dtype[24];
	struct zr_shape item_shape;
	char codec[16];
	uint64_t records;
	struct expect_record *record;
};

/* "3,4,5", or "-" for none. Returns how many there are. */
static inline size_t expect_numbers(const char *text, uint64_t *out,
				    size_t room)
{
	size_t n = 0;
	char *end;

	if (!strcmp(text, "-"))
		return 0;
	for (;; text = end + 1) {
		cr_assert(n < room, "too many numbers: %s", text);
		out[n++] = strtoull(text, &end, 10);
		if (*end != ',')
			return n;
	}
}

static inline struct zr_shape expect_shape(const char *text)
{
	struct zr_shape s = { 0 };

	s.rank = (uint32_t)expect_numbers(text, s.dims, ZR_RANK_MAX);
	return s;
}

static inline bool expect_same_shape(const struct zr_shape *a,
				     const struct zr_shape *b)
{
	return a->rank == b->rank &&
	       !memcmp(a->dims, b->dims, a->rank * sizeof(a->dims[0]));
}

static inline FILE *expect_open(const char *name)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/expect.tsv", TEST_DATA, name);
	f = fopen(path, "r");
	cr_assert(f != NULL, "%s is not there", path);
	return f;
}

/* Read the next container of golden/expect.tsv with its records; false at the
 * end. Free what c->record points to. */
static inline bool expect_next(FILE *f, struct expect_container *c)
{
	char shape[256];

	memset(c, 0, sizeof(*c));
	if (fscanf(f, "C %63s %15s %23s %255s %15s %lu\n", c->name, c->kind,
		   c->dtype, shape, c->codec, &c->records) != 6) {
		cr_assert(feof(f), "expect.tsv is damaged after %s", c->name);
		return false;
	}
	c->item_shape = expect_shape(shape);
	c->record = calloc(c->records + 1, sizeof(c->record[0]));
	for (uint64_t i = 0; i < c->records; i++) {
		cr_assert(fscanf(f, "R %255s %64s\n", shape,
				 c->record[i].sha256) == 2,
			  "expect.tsv: record %lu of %s", i, c->name);
		c->record[i].shape = expect_shape(shape);
	}
	return true;
}

/* Read all of golden/expect.tsv; free with expect_free. */
static inline struct expect_container *expect_load(size_t *count)
{
	struct expect_container *all = NULL, one;
	FILE *f = expect_open("golden");

	for (*count = 0; expect_next(f, &one); (*count)++) {
		all = realloc(all, (*count + 1) * sizeof(*all));
		all[*count] = one;
	}
	fclose(f);
	cr_assert(*count > 0);
	return all;
}

static inline void expect_free(struct expect_container *all, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(all[i].record);
	free(all);
}

/* SHA-256 of the .npy file of one record. */
static inline void expect_digest(char text[65], const struct zr_dtype *dtype,
				 const struct zr_shape *shape,
				 const void *elements, uint64_t bytes)
{
	unsigned char head[ZR_NPY_HEADER_MAX];
	struct sha256 sum;
	size_t len = 0;

	cr_assert(zr_npy_header(head, sizeof(head), &len, dtype, shape) == 0);
	sha256_init(&sum);
	sha256_add(&sum, head, len);
	sha256_add(&sum, elements, bytes);
	sha256_text(&sum, text);
}

/* Room for the largest record of `c`, at least one byte; free it. */
static inline void *expect_room(const struct zr_container *c, size_t *size)
{
	*size = 1;
	for (uint64_t i = 0; i < zr_info(c)->records; i++)
		if (zr_record_bound(c, i) > *size)
			*size = zr_record_bound(c, i);
	return malloc(*size);
}

#endif
