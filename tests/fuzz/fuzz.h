/* SPDX-License-Identifier: BSD-2-Clause
 * What the fuzz targets share: a property that must hold, and bytes of the
 * input taken one after the other. */
#ifndef FUZZ_H
#define FUZZ_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zrecord.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define must(cond)                                                             \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "%s:%d: must hold: %s\n", __FILE__,    \
				__LINE__, #cond);                              \
			abort();                                               \
		}                                                              \
	} while (0)

struct input {
	const uint8_t *p;
	size_t left;
};

/* The next `bytes` bytes, little-endian; 0 for those that are not there. */
static inline uint64_t take(struct input *in, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes && in->left; i++, in->p++, in->left--)
		v |= (uint64_t)*in->p << (8 * i);
	return v;
}

/* A copy of exactly `len` bytes, so that reading behind them is seen. */
static inline void *copy_of(const void *p, size_t len)
{
	void *q = malloc(len ? len : 1);

	must(q);
	if (len)
		memcpy(q, p, len);
	return q;
}

static inline int same_shape(const struct zr_shape *a, const struct zr_shape *b)
{
	return a->rank == b->rank &&
	       !memcmp(a->dims, b->dims, a->rank * sizeof(a->dims[0]));
}

#endif
