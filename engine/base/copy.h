/* SPDX-License-Identifier: BSD-2-Clause
 * Copies of records into a batch. */
#ifndef ZR_COPY_H
#define ZR_COPY_H

#include <stdbool.h>
#include <stddef.h>

/* A batch of so many bytes will not be in the cache when it is made: then long
 * records leave the cache alone. See docs/BENCHMARKS.md. */
#define ZR_STREAM_BATCH ((size_t)24 << 20)

/* memcpy of a record; of a batch that is so long, if `stream`. */
void zr_copy_record(void *dst, const void *src, size_t len, bool stream);

#endif
