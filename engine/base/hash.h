/* SPDX-License-Identifier: BSD-2-Clause
 * XXH3, 64 bits. */
#ifndef ZR_HASH_H
#define ZR_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t zr_hash(const void *p, size_t len);

/* Of bytes that come in pieces. */
struct zr_hasher;
struct zr_hasher *zr_hasher_new(void); /* NULL: no memory */
void zr_hasher_add(struct zr_hasher *h, const void *p, size_t len);
/* The hash of what was added; the next piece begins anew. */
uint64_t zr_hasher_end(struct zr_hasher *h);
void zr_hasher_free(struct zr_hasher *h);

#endif
