/* SPDX-License-Identifier: BSD-2-Clause
 * XXH3, 64 bits: the only file that knows xxhash. */
#include "hash.h"

#include <stdlib.h>
#include <xxhash.h>
/* libxxhash has one form for each vector width and, where it is built to (then
 * it installs this header), takes the CPU's; else it takes the narrowest. */
#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif
#endif

struct zr_hasher {
	XXH3_state_t *state;
};

uint64_t zr_hash(const void *p, size_t len)
{
	return XXH3_64bits(p, len);
}

struct zr_hasher *zr_hasher_new(void)
{
	struct zr_hasher *h = calloc(1, sizeof(*h));

	if (h)
		h->state = XXH3_createState();
	if (!h || !h->state) {
		free(h);
		return NULL;
	}
	XXH3_64bits_reset(h->state);
	return h;
}

void zr_hasher_add(struct zr_hasher *h, const void *p, size_t len)
{
	XXH3_64bits_update(h->state, p, len);
}

uint64_t zr_hasher_end(struct zr_hasher *h)
{
	uint64_t hash = XXH3_64bits_digest(h->state);

	XXH3_64bits_reset(h->state);
	return hash;
}

void zr_hasher_free(struct zr_hasher *h)
{
	if (!h)
		return;
	XXH3_freeState(h->state);
	free(h);
}
