/* SPDX-License-Identifier: BSD-2-Clause
 * The iid order: draws with replacement from one SFC64 stream. */
#include "iid.h"

/* Ids drawn between two looks at whether one must be redrawn. */
#define CHUNK 2048u

/* Above this a kernel would too often meet a word that may be redrawn. */
#define KERNEL_MAX (UINT64_C(1) << 44)

static void draw_exact(struct zl_sfc *gen, uint64_t n, uint64_t *ids,
		       size_t count)
{
	for (size_t i = 0; i < count;)
		i += zl_below(zl_sfc_next(gen), n, &ids[i]);
}

void zl_iid_draw(const struct zl_kernels *k, struct zl_sfc *gen, uint64_t n,
		 uint64_t *ids, size_t count)
{
	size_t whole = n <= KERNEL_MAX ? count - count % ZL_IID_BLOCK : 0;

	for (size_t i = 0, run; i < whole; i += run) {
		struct zl_sfc s = *gen;

		run = whole - i < CHUNK ? whole - i : CHUNK;
		if (k->iid(&s, n, ids + i, run))
			*gen = s;
		else
			draw_exact(gen, n, ids + i, run);
	}
	draw_exact(gen, n, ids + whole, count - whole);
}

void zl_iid_skip(struct zl_sfc *gen, uint64_t n, uint64_t count)
{
	struct zl_sfc s = *gen;
	uint64_t id;

	/* Where 2^64 is a multiple of n no word is ever redrawn. */
	if ((0 - n) % n == 0)
		while (count--)
			zl_sfc_next(&s);
	else
		while (count)
			count -= zl_below(zl_sfc_next(&s), n, &id);
	*gen = s;
}
