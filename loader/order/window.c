/* SPDX-License-Identifier: BSD-2-Clause
 * The window order: a permutation in which no record moves far.
 *
 * Two passes of permutations inside blocks of half a window, the blocks of
 * one pass lying across the borders of the other: records cross block
 * borders, and none moves a whole window. Borders shift with the epoch, so
 * that records do not keep their neighbours. */
#include "window.h"

#include "permute.h"

/* One pass, and the permutations of the two blocks last met in it: ids in a
 * row need no others. */
struct pass {
	uint64_t n, block, offset, key;
	uint64_t start[2]; /* + 1, so that 0 means none */
	struct zl_permutation perm[2];
};

static uint64_t pass_map(struct pass *p, uint64_t i)
{
	uint64_t number = i < p->offset ? 0 : 1 + (i - p->offset) / p->block;
	uint64_t start = number ? p->offset + (number - 1) * p->block : 0;
	uint64_t len = number ? p->block : p->offset;
	unsigned slot = number & 1;

	if (len > p->n - start)
		len = p->n - start;
	if (p->start[slot] != start + 1) {
		p->start[slot] = start + 1;
		zl_permutation_init(&p->perm[slot], len, p->key, start);
	}
	return start + zl_permutation_at(&p->perm[slot], i - start);
}

void zl_window_fill(uint64_t n, uint64_t window, uint64_t seed, uint64_t epoch,
		    uint64_t first, size_t count, uint64_t *ids)
{
	uint64_t block = window / 2 + (window & 1);
	uint64_t key = zl_mix(seed, epoch, 7);
	uint64_t offset = key % block;
	struct pass late = { .n = n,
			     .block = block,
			     .offset = offset,
			     .key = zl_mix(key, 0, 8) };
	struct pass early = late;

	early.offset = (offset + block / 2) % block;
	early.key = zl_mix(key, 1, 8);
	for (size_t i = 0; i < count; i++)
		ids[i] = pass_map(&early, pass_map(&late, first + i));
}
