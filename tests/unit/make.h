/* SPDX-License-Identifier: BSD-2-Clause
 * Small containers with contents that can be told from the id. */
#ifndef MAKE_H
#define MAKE_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "zrecord.h"

/* Item j of record i of a "<i4" container. */
static inline int32_t make_item(uint64_t i, uint64_t j)
{
	return (int32_t)((i * 2654435761u) ^ (j * 40503u)) % 1000;
}

static inline struct zr_dtype make_dtype(const char *text)
{
	struct zr_dtype d;

	cr_assert(zr_dtype_parse(&d, text, strlen(text)) == 0);
	return d;
}

/* A dictionary trained on records like those made here; free it. */
static inline void *make_dict(size_t *bytes)
{
	enum { samples = 2000, words = 64 };
	static size_t sizes[samples];
	int32_t *data = malloc(samples * words * sizeof(*data));
	void *dict = malloc(16384);

	for (uint64_t i = 0; i < samples; i++) {
		sizes[i] = words * sizeof(*data);
		for (uint64_t j = 0; j < words; j++)
			data[i * words + j] = make_item(i % 97, j);
	}
	cr_assert(zr_train(dict, 16384, bytes, data, sizes, samples, NULL) ==
		  0);
	free(data);
	return dict;
}

/* Rank of record i of a Ragged container, and its dimensions. */
static inline uint32_t make_shape(uint64_t i, uint64_t dims[4])
{
	uint32_t rank = (uint32_t)(i % 5);

	for (uint32_t d = 0; d < rank; d++)
		dims[d] = 1 + (i * 7 + d * 3) % 6;
	return rank;
}

static inline uint64_t make_items(uint64_t i)
{
	uint64_t dims[4], n = 1;
	uint32_t rank = make_shape(i, dims);

	for (uint32_t d = 0; d < rank; d++)
		n *= dims[d];
	return n;
}

/* Records [first, first + count) packed; free with make_batch_free. */
static inline struct zr_ragged make_batch(uint64_t first, size_t count)
{
	struct zr_ragged b = { 0 };
	uint64_t at = 0, dim = 0;

	b.count = count;
	b.values = malloc(count * 1296 * 4 + 1);
	b.offsets = malloc((count + 1) * 8);
	b.dims = malloc(count * 4 * 8 + 1);
	b.dim_offsets = malloc((count + 1) * 8);
	for (size_t k = 0; k < count; k++) {
		uint64_t i = first + k, n = make_items(i);

		b.offsets[k] = at;
		b.dim_offsets[k] = dim;
		dim += make_shape(i, b.dims + dim);
		for (uint64_t j = 0; j < n; j++, at += 4) {
			int32_t v = make_item(i, j);

			memcpy(b.values + at, &v, 4);
		}
	}
	b.offsets[count] = at;
	b.dim_offsets[count] = dim;
	return b;
}

static inline void make_batch_free(struct zr_ragged *b)
{
	free(b->values);
	free(b->offsets);
	free(b->dims);
	free(b->dim_offsets);
}

/* Build a container of `count` records with `words` items each, or Ragged
 * ones if `words` is 0. */
static inline int make_container(const char *path, enum zr_codec codec,
				 size_t count, size_t words,
				 struct zr_executor *ex, struct zr_error *err)
{
	struct zr_create_options opt = ZR_CREATE_OPTIONS_INIT;
	struct zr_dtype dtype = make_dtype("<i4");
	struct zr_shape shape = { 1, { words } };
	struct zr_writer *w;
	void *dict = NULL;
	int rc;

	opt.codec = codec;
	opt.executor = ex;
	if (codec == ZR_ZSTD_DICT)
		opt.dict = dict = make_dict(&opt.dict_bytes);
	rc = zr_create(&w, path, words ? ZR_DENSE : ZR_RAGGED, &dtype,
		       words ? &shape : NULL, &opt, err);
	if (rc == 0 && words) {
		int32_t *items = malloc(count * words * 4 + 1);

		for (size_t i = 0; i < count; i++)
			for (size_t j = 0; j < words; j++)
				items[i * words + j] = make_item(i, j);
		rc = zr_append_dense(w, items, count, err);
		free(items);
	} else if (rc == 0) {
		struct zr_ragged b = make_batch(0, count);

		rc = zr_append_ragged(w, &b, err);
		make_batch_free(&b);
	}
	free(dict);
	if (rc) {
		if (w)
			zr_discard(w);
		return rc;
	}
	return zr_publish(w, err);
}

#endif
