/* SPDX-License-Identifier: BSD-2-Clause
 * Copies of records into a batch. */
#ifndef ZR_COPY_H
#define ZR_COPY_H

#include <stddef.h>

/* memcpy that leaves the cache alone where the record is so long that the
 * batch will not be in it anyway. */
void zr_copy_record(void *dst, const void *src, size_t len);

#endif
