/* SPDX-License-Identifier: BSD-2-Clause
 * Records and containers for the stress programs of the engine: a record
 * begins with its tag, and its shape and all other words follow from that. */
#ifndef ENGINE_DATA_H
#define ENGINE_DATA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zrecord.h"

static atomic_int failures;

/* Of a thousand threads that see one mistake a few may say so. */
#define CHECK(cond, ...)                                                       \
	do {                                                                   \
		if (!(cond) && atomic_fetch_add(&failures, 1) < 20) {          \
			printf("%s:%d: %s: ", __FILE__, __LINE__, #cond);      \
			printf(__VA_ARGS__);                                   \
			putchar('\n');                                         \
			fflush(stdout);                                        \
		}                                                              \
	} while (0)
#define MUST(call)                                                             \
	do {                                                                   \
		int must_rc = (call);                                          \
		if (must_rc) {                                                 \
			printf("%s:%d: %s: %d\n", __FILE__, __LINE__, #call,   \
			       must_rc);                                       \
			exit(1);                                               \
		}                                                              \
	} while (0)

/* splitmix64 */
static inline uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static inline void *room(size_t size)
{
	void *p = malloc(size + 1);

	if (!p) {
		puts("no memory for the test itself");
		exit(1);
	}
	return p;
}

/* ---- Kinds of containers ------------------------------------------------ */

struct data_kind {
	const char *name;
	enum zr_kind kind;
	enum zr_codec codec;
};
enum { KINDS = 6 };
static const struct data_kind data_kinds[KINDS] = {
	{ "dense_raw", ZR_DENSE, ZR_RAW },
	{ "dense_zstd", ZR_DENSE, ZR_ZSTD },
	{ "dense_dict", ZR_DENSE, ZR_ZSTD_DICT },
	{ "ragged_raw", ZR_RAGGED, ZR_RAW },
	{ "ragged_zstd", ZR_RAGGED, ZR_ZSTD },
	{ "ragged_dict", ZR_RAGGED, ZR_ZSTD_DICT },
};

static const struct zr_dtype data_dtype = { "<u4", 'u', '<', 4 };
static const struct zr_shape data_shape = { 2, { 4, 8 } };

enum { ITEM_WORDS = 216, ITEM_BYTES = 4 * ITEM_WORDS }; /* at most */

/* Shape of the record with this tag; returns its words. */
static inline size_t item_shape(enum zr_kind kind, uint32_t tag,
				struct zr_shape *shape)
{
	size_t words = 1;

	*shape = data_shape;
	if (kind == ZR_RAGGED)
		shape->rank = tag % 4;
	for (uint32_t d = 0; d < shape->rank; d++) {
		if (kind == ZR_RAGGED)
			shape->dims[d] = 1 + (tag / 4 + 5 * d) % 6;
		words *= shape->dims[d];
	}
	return words;
}

/* Never 0, so that bytes nobody wrote are never right. */
static inline uint32_t item_word(uint32_t tag, size_t j)
{
	return j ? (((tag * 2654435761u) >> 12 ^ (uint32_t)j * 40503u) &
		    0xffff) | 0x10000
		 : tag | 0x80000000;
}

static inline void item_fill(unsigned char *to, uint32_t tag, size_t words)
{
	for (size_t j = 0; j < words; j++) {
		uint32_t w = item_word(tag, j);

		memcpy(to + 4 * j, &w, 4);
	}
}

static inline bool item_same(const unsigned char *p, uint32_t tag, size_t words)
{
	unsigned char want[ITEM_BYTES];

	item_fill(want, tag, words);
	return !memcmp(p, want, 4 * words);
}

static inline uint32_t item_tag(const unsigned char *p)
{
	uint32_t w;

	memcpy(&w, p, 4);
	return w & 0x7fffffff;
}

/* ---- Writing ------------------------------------------------------------- */

/* Append records with the tags first, first + 1, ...; `spoil`: the dims of the
 * last Ragged one do not fit its bytes. */
static inline int data_append(struct zr_writer *w, enum zr_kind kind,
			      uint32_t first, size_t count, bool spoil,
			      struct zr_error *err)
{
	unsigned char *values = room(count * ITEM_BYTES);
	uint64_t *offsets = room((count + 1) * 8);
	uint64_t *dim_offsets = room((count + 1) * 8);
	uint64_t *dims = room((count + 1) * 3 * 8);
	struct zr_ragged b = { .count = count,
			       .values = values,
			       .offsets = offsets,
			       .dims = dims,
			       .dim_offsets = dim_offsets };
	size_t at = 0, dim = 0;
	int rc;

	offsets[0] = dim_offsets[0] = 0;
	for (size_t i = 0; i < count; i++) {
		struct zr_shape shape;
		size_t words = item_shape(kind, first + (uint32_t)i, &shape);

		item_fill(values + at, first + (uint32_t)i, words);
		at += 4 * words;
		for (uint32_t d = 0; kind == ZR_RAGGED && d < shape.rank; d++)
			dims[dim++] = shape.dims[d];
		offsets[i + 1] = at;
		dim_offsets[i + 1] = dim;
	}
	if (spoil)
		offsets[count]--;
	rc = kind == ZR_DENSE ? zr_append_dense(w, values, count, err)
			      : zr_append_ragged(w, &b, err);
	free(values);
	free(offsets);
	free(dim_offsets);
	free(dims);
	return rc;
}

/* A dictionary of such records, trained by the first who asks; not for two
 * threads at once. */
static inline const void *data_dict(size_t *bytes)
{
	enum { samples = 3000 };
	static unsigned char dict[8192];
	static size_t len;

	if (!len) {
		unsigned char *all = room(samples * ITEM_BYTES);
		size_t *sizes = room(samples * sizeof(*sizes)), at = 0;

		for (uint32_t i = 0; i < samples; i++) {
			struct zr_shape shape;
			size_t words = item_shape(i % 2 ? ZR_DENSE : ZR_RAGGED,
						  i, &shape);

			item_fill(all + at, i, words);
			sizes[i] = 4 * words;
			at += sizes[i];
		}
		MUST(zr_train(dict, sizeof(dict), &len, all, sizes, samples,
			      NULL));
		free(all);
		free(sizes);
	}
	*bytes = len;
	return dict;
}

static inline int data_create(struct zr_writer **w, const char *path,
			      const struct data_kind *k, struct zr_executor *ex,
			      struct zr_error *err)
{
	struct zr_create_options opt = ZR_CREATE_OPTIONS_INIT;

	opt.codec = k->codec;
	opt.executor = ex;
	if (k->codec == ZR_ZSTD_DICT)
		opt.dict = data_dict(&opt.dict_bytes);
	return zr_create(w, path, k->kind, &data_dtype,
			 k->kind == ZR_DENSE ? &data_shape : NULL, &opt, err);
}

/* A container whose record i has tag i. */
static inline void data_build(const char *path, const struct data_kind *k,
			      uint32_t count, struct zr_executor *ex)
{
	struct zr_writer *w;

	MUST(data_create(&w, path, k, ex, NULL));
	for (uint32_t i = 0; i < count; i += 500)
		MUST(data_append(w, k->kind, i,
				 count - i < 500 ? count - i : 500, false,
				 NULL));
	MUST(zr_publish(w, NULL));
}

/* ---- Reading ------------------------------------------------------------- */

/* Is what was read the record with this tag? */
static inline bool data_right(enum zr_kind kind, uint32_t tag,
			      const unsigned char *p, uint64_t bytes,
			      const struct zr_shape *shape)
{
	struct zr_shape want;
	size_t words = item_shape(kind, tag, &want);

	return bytes == 4 * words && shape->rank == want.rank &&
	       !memcmp(shape->dims, want.dims, 8 * (size_t)want.rank) &&
	       item_same(p, tag, words);
}

/* Gather `count` ids and say how: 0 and all right, 1 and something wrong, or
 * the error. `kept` is reused by Ragged gathers. */
static inline int data_gather(struct zr_reader *r, enum zr_kind kind,
			      const uint64_t *ids, size_t count,
			      unsigned char *dst, struct zr_ragged *kept,
			      struct zr_error *err)
{
	int rc;

	if (kind == ZR_DENSE) {
		size_t bytes = 4 * item_shape(kind, 0, &(struct zr_shape){ 0 });

		rc = zr_gather_dense(r, ids, count, dst, count * bytes, err);
		for (size_t i = 0; !rc && i < count; i++)
			if (!item_same(dst + i * bytes, (uint32_t)ids[i],
				       bytes / 4))
				rc = 1;
		return rc;
	}
	rc = zr_gather_ragged(r, ids, count, kept, err);
	if (!rc && kept->count != count)
		return 1;
	for (size_t i = 0; !rc && i < count; i++) {
		uint64_t dim = kept->dim_offsets[i];
		struct zr_shape shape = {
			(uint32_t)(kept->dim_offsets[i + 1] - dim), { 0 }
		};

		if (shape.rank > 3)
			return 1;
		memcpy(shape.dims, kept->dims + dim, 8 * (size_t)shape.rank);
		if (!data_right(kind, (uint32_t)ids[i],
				kept->values + kept->offsets[i],
				kept->offsets[i + 1] - kept->offsets[i],
				&shape))
			rc = 1;
	}
	return rc;
}

#endif
