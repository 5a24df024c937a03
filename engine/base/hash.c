/* SPDX-License-Identifier: BSD-2-Clause
 * XXH3, 64 bits, in the widest form that the CPU has. */
#include "hash.h"

#include <stdlib.h>

#include "hash_form.h"

struct zr_hasher {
	XXH3_state_t state; /* wants to be aligned to 64 bytes */
};

static const struct zr_hash_form plain = { form_hash, form_add };

static const struct zr_hash_form *form(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return &zr_hash_avx2;
#endif
	return &plain;
}

uint64_t zr_hash(const void *p, size_t len)
{
	return form()->hash(p, len);
}

struct zr_hasher *zr_hasher_new(void)
{
	struct zr_hasher *h = aligned_alloc(_Alignof(struct zr_hasher),
					    sizeof(struct zr_hasher));

	if (h)
		XXH3_64bits_reset(&h->state);
	return h;
}

void zr_hasher_add(struct zr_hasher *h, const void *p, size_t len)
{
	form()->add(&h->state, p, len);
}

uint64_t zr_hasher_end(struct zr_hasher *h)
{
	uint64_t hash = XXH3_64bits_digest(&h->state);

	XXH3_64bits_reset(&h->state);
	return hash;
}

void zr_hasher_free(struct zr_hasher *h)
{
	free(h);
}
