/* SPDX-License-Identifier: BSD-2-Clause
 * Training a zstd dictionary. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <zdict.h>

#include "error.h"

/* libzstd 1.5 trains on the first three quarters of the samples and tests on
 * the rest; it reads out of bounds if that part is shorter than what it looks
 * at in one step. */
#define TRAINED_BYTES 256

static bool enough(const size_t *sizes, size_t count)
{
	size_t sum = 0;

	for (size_t i = 0; i < count - count / 4 - 1; i++) {
		sum += sizes[i] < TRAINED_BYTES ? sizes[i] : TRAINED_BYTES;
		if (sum >= TRAINED_BYTES)
			return true;
	}
	return false;
}

int zr_train(void *dict, size_t size, size_t *bytes, const void *samples,
	     const size_t *sizes, size_t count, struct zr_error *err)
{
	size_t n;

	*bytes = 0;
	if (count > UINT_MAX)
		return zr_fail(err, -EINVAL, NULL, "too many samples");
	if (count < 2 || !enough(sizes, count))
		return zr_fail(err, -EINVAL, NULL,
			       "too little data to train a dictionary on (%zu "
			       "samples)",
			       count);
	n = ZDICT_trainFromBuffer(dict, size, samples, sizes, (unsigned)count);
	if (ZDICT_isError(n))
		return zr_fail(err, -EINVAL, NULL,
			       "too little data to train a dictionary on "
			       "(%zu samples): %s",
			       count, ZDICT_getErrorName(n));
	*bytes = n;
	return 0;
}
