/* SPDX-License-Identifier: BSD-2-Clause
 * Training a zstd dictionary. */
#include <errno.h>
#include <limits.h>
#include <zdict.h>

#include "error.h"

int zr_train(void *dict, size_t size, size_t *bytes, const void *samples,
	     const size_t *sizes, size_t count, struct zr_error *err)
{
	size_t n;

	*bytes = 0;
	if (count > UINT_MAX)
		return zr_fail(err, -EINVAL, NULL, "too many samples");
	n = ZDICT_trainFromBuffer(dict, size, samples, sizes, (unsigned)count);
	if (ZDICT_isError(n))
		return zr_fail(err, -EINVAL, NULL,
			       "too little data to train a dictionary on "
			       "(%zu samples): %s",
			       count, ZDICT_getErrorName(n));
	*bytes = n;
	return 0;
}
