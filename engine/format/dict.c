/* SPDX-License-Identifier: BSD-2-Clause
 * Training a zstd dictionary. */
#define ZDICT_STATIC_LINKING_ONLY /* libzstd exports them all the same */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zdict.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.h"

/* ZDICT_trainFromBuffer looks for the best segment length among few, by trial
 * on a quarter of the samples that the dictionary then does not see, and takes
 * the statistics of level 3. These fixed numbers, on all samples, make a better
 * dictionary of most data in the same time (docs/BENCHMARKS.md). */
#define SEGMENT 1000
#define MATCH 6
#define LEVEL 12

/* What the samples of a level's statistics cost is mostly a fixed price each,
 * for which level 12 clears its tables: 98 % of the time for lines of text. So
 * the content is taken from all samples, with the statistics of a level that
 * costs nothing, and the statistics of LEVEL from a part of them at even
 * distances: the same ratio within 0.1 % (docs/BENCHMARKS.md). */
#define LEVEL_CONTENT 1
#define COUNTED ((size_t)16384)
#define COUNTED_BYTES ((size_t)8 << 20)
/* libzstd looks at no more of a sample. */
#define BLOCK_BYTES ((size_t)128 << 10)

/* With less there is nothing to learn. */
#define SAMPLES_MIN 256

static bool enough(const size_t *sizes, size_t count)
{
	size_t sum = 0;

	for (size_t i = 0; i < count && sum < SAMPLES_MIN; i++)
		sum += sizes[i];
	return sum >= SAMPLES_MIN;
}

/* The parameters are not of libzstd's stable interface: with another version
 * than the headers' they might lie elsewhere. */
static bool same_libzstd(void)
{
	return ZSTD_versionNumber() / 100 == ZSTD_VERSION_NUMBER / 100;
}

struct counted {
	unsigned char *data;
	size_t *sizes;
	unsigned count;
};

static size_t head_of(size_t size)
{
	return size < BLOCK_BYTES ? size : BLOCK_BYTES;
}

/* Every step-th sample, so that neither bound is passed by more than one. */
static size_t step_of(const size_t *sizes, size_t count)
{
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += head_of(sizes[i]);
	if (bytes / COUNTED_BYTES > count / COUNTED)
		return bytes / COUNTED_BYTES + 1;
	return count / COUNTED + 1;
}

static bool take_counted(struct counted *c, const unsigned char *samples,
			 const size_t *sizes, size_t count)
{
	size_t step = step_of(sizes, count), bytes = 0, at = 0;

	for (size_t i = 0; i < count; i += step)
		bytes += head_of(sizes[i]);
	c->count = 0;
	c->data = malloc(bytes + 1);
	c->sizes = malloc((count / step + 1) * sizeof(size_t));
	if (!c->data || !c->sizes)
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t n = head_of(sizes[i]);

		if (i % step == 0) {
			memcpy(c->data + at, samples, n);
			c->sizes[c->count++] = n;
			at += n;
		}
		samples += sizes[i];
	}
	return true;
}

/* The same content with the statistics of LEVEL. */
static size_t finish(void *dict, size_t size, size_t bytes,
		     const struct counted *c)
{
	ZDICT_params_t params = { .compressionLevel = LEVEL };
	size_t head = ZDICT_getDictHeaderSize(dict, bytes);

	if (ZDICT_isError(head))
		return head;
	return ZDICT_finalizeDictionary(dict, size, (char *)dict + head,
					bytes - head, c->data, c->sizes,
					c->count, params);
}

static size_t train(void *dict, size_t size, const void *samples,
		    const size_t *sizes, unsigned count,
		    const struct counted *c)
{
	ZDICT_fastCover_params_t params = { 0 };
	size_t n;

	if (!same_libzstd())
		return ZDICT_trainFromBuffer(dict, size, samples, sizes, count);
	params.k = size < SEGMENT ? (unsigned)size : SEGMENT;
	params.d = MATCH;
	params.zParams.compressionLevel = LEVEL_CONTENT;
	n = ZDICT_trainFromBuffer_fastCover(dict, size, samples, sizes, count,
					    params);
	return ZDICT_isError(n) ? n : finish(dict, size, n, c);
}

int zr_train(void *dict, size_t size, size_t *bytes, const void *samples,
	     const size_t *sizes, size_t count, struct zr_error *err)
{
	struct counted c = { NULL, NULL, 0 };
	bool memory;
	size_t n = 0;

	*bytes = 0;
	if (count > UINT_MAX)
		return zr_fail(err, -EINVAL, NULL, "too many samples");
	if (size < ZDICT_DICTSIZE_MIN)
		return zr_fail(err, -EINVAL, NULL,
			       "a dictionary has at least %d bytes",
			       ZDICT_DICTSIZE_MIN);
	if (!enough(sizes, count))
		return zr_fail(err, -EINVAL, NULL,
			       "too little data to train a dictionary on (%zu "
			       "samples)",
			       count);
	memory = take_counted(&c, samples, sizes, count);
	if (memory)
		n = train(dict, size, samples, sizes, (unsigned)count, &c);
	free(c.data);
	free(c.sizes);
	if (!memory || ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation)
		return zr_fail(err, -ENOMEM, NULL,
			       "no memory to train a dictionary");
	if (ZDICT_isError(n))
		return zr_fail(err, -EINVAL, NULL,
			       "too little data to train a dictionary on "
			       "(%zu samples): %s",
			       count, ZDICT_getErrorName(n));
	*bytes = n;
	return 0;
}
