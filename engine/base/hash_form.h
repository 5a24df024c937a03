/* SPDX-License-Identifier: BSD-2-Clause
 * XXH3 in the form of the instruction set that the including file is compiled
 * for: libxxhash's own choice among forms is in its shared library only, and
 * where it was built so. */
#ifndef ZR_HASH_FORM_H
#define ZR_HASH_FORM_H

#include <stddef.h>
#include <stdint.h>

struct zr_hash_form {
	uint64_t (*hash)(const void *p, size_t len);
	/* To an XXH3_state_t, which is the same in all forms. */
	void (*add)(void *state, const void *p, size_t len);
};

extern const struct zr_hash_form zr_hash_avx2; /* x86-64 only */

/* All of xxhash is in each form, and private to it. What to inline is left to
 * the compiler: xxhash would insist on what gcc -Og refuses, and to raise the
 * level for it makes short hashes slow. */
#define XXH_NO_INLINE_HINTS 1
#define XXH_INLINE_ALL
#include <xxhash.h>

static uint64_t form_hash(const void *p, size_t len)
{
	return XXH3_64bits(p, len);
}

static void form_add(void *state, const void *p, size_t len)
{
	XXH3_64bits_update(state, p, len);
}

#endif
