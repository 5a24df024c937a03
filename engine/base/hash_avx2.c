/* SPDX-License-Identifier: BSD-2-Clause
 * XXH3 with vectors of 32 bytes. */
#if defined(__x86_64__)
/* First, so that only xxhash is compiled for AVX2. */
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))),                  \
			     apply_to = function)
#else
#pragma GCC target("avx2")
#endif
#define XXH_VECTOR XXH_AVX2
#include "hash_form.h"

const struct zr_hash_form zr_hash_avx2 = { form_hash, form_add };

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
