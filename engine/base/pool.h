/* SPDX-License-Identifier: BSD-2-Clause
 * Memory on large pages. */
#ifndef ZR_POOL_H
#define ZR_POOL_H

#include <stddef.h>

/* Allocate at least *size bytes and store how many there are: from 2 MiB on at
 * a multiple of that, on pages of that size where the system has any, else at
 * a multiple of 4096. free(3) frees it. NULL: no memory. */
void *zr_pages_new(size_t *size);

#endif
