/* SPDX-License-Identifier: BSD-2-Clause
 * Each form of the hash gives what XXH3 gives without vectors, at once and in
 * pieces. */
#include <criterion/criterion.h>

#include "base/hash.h"

#define XXH_VECTOR XXH_SCALAR
#include "base/hash_form.h"

enum { most = 9000 };

static unsigned char data[most + 1];

static void fill(void)
{
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 2654435761u >> 24);
}

/* Of all lengths near where XXH3 changes its way, and some beyond. */
static size_t next_length(size_t n)
{
	return n < 520 ? n + 1 : n < 1100 ? n + 7 : n + 61;
}

Test(hash, is_xxh3, .init = fill)
{
	cr_expect(zr_hash("", 0) == 0x2d06800538d394c2u);
	for (size_t n = 0; n <= most; n = next_length(n))
		cr_assert(zr_hash(data + 1, n) == form_hash(data + 1, n),
			  "%zu bytes", n);
}

Test(hash, in_pieces_too, .init = fill)
{
	struct zr_hasher *h = zr_hasher_new();

	for (size_t n = 0; n <= most; n = next_length(n)) {
		for (size_t at = 0, len = 1; at < n; at += len, len *= 3) {
			if (len > n - at)
				len = n - at;
			zr_hasher_add(h, data + at, len);
		}
		cr_assert(zr_hasher_end(h) == form_hash(data, n), "%zu bytes",
			  n);
	}
	zr_hasher_free(h);
}

/* The tests above saw the one form that this CPU takes. */
Test(hash, forms_can_take_turns_on_one_state, .init = fill)
{
#if defined(__x86_64__)
	if (!__builtin_cpu_supports("avx2"))
		return;
	for (size_t n = 0; n <= most; n = next_length(n)) {
		XXH3_state_t state;

		XXH3_64bits_reset(&state);
		zr_hash_avx2.add(&state, data, n / 2);
		form_add(&state, data + n / 2, n - n / 2);
		cr_assert(XXH3_64bits_digest(&state) == form_hash(data, n));
	}
#endif
}
