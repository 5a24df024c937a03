/* SPDX-License-Identifier: BSD-2-Clause
 * Memory on huge pages. */
#ifndef ZR_POOL_H
#define ZR_POOL_H

#include <stddef.h>

/* Allocate at least *size bytes, at a multiple of 2 MiB and on pages of that
 * size if there are so many, and store how many there are. free(3) frees it.
 * NULL: no memory. */
void *zr_pages_new(size_t *size);

#endif
