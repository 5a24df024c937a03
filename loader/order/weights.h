/* SPDX-License-Identifier: BSD-2-Clause
 * Exact draws by integer weights from an alias table. */
#ifndef ZL_WEIGHTS_H
#define ZL_WEIGHTS_H

#include "zloader.h"

/* Record i takes of its bucket, which holds `sum` units, the first `own`;
 * the others belong to `alias`. */
struct zl_bucket {
	uint64_t own;
	uint64_t alias;
};

struct zl_weights {
	uint64_t count;
	uint64_t sum;
	uint64_t identity; /* of the weights, not of the table */
	struct zl_bucket *bucket;
};

/* Draws number first, first + 1, ... of the stream `seed`. */
void zl_weights_draw(const struct zl_weights *w, uint64_t seed, uint64_t first,
		     size_t count, uint64_t *ids);

#endif
