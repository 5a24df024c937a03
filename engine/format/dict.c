/* SPDX-License-Identifier: BSD-2-Clause
 * Training a zstd dictionary. */
#define ZDICT_STATIC_LINKING_ONLY /* libzstd exports them all the same */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
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

int zr_train(void *dict, size_t size, size_t *bytes, const void *samples,
	     const size_t *sizes, size_t count, struct zr_error *err)
{
	ZDICT_fastCover_params_t params = { 0 };
	size_t n;

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
	params.k = size < SEGMENT ? (unsigned)size : SEGMENT;
	params.d = MATCH;
	params.zParams.compressionLevel = LEVEL;
	n = same_libzstd()
		    ? ZDICT_trainFromBuffer_fastCover(dict, size, samples,
						      sizes, (unsigned)count,
						      params)
		    : ZDICT_trainFromBuffer(dict, size, samples, sizes,
					    (unsigned)count);
	if (ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation)
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
