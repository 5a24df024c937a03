/* SPDX-License-Identifier: BSD-2-Clause
 * Whether the data of a container is in memory, and asking the disk for it. */
#ifndef ZR_PREFETCH_H
#define ZR_PREFETCH_H

#include "format/container.h"

/* May reading from `c` wait for a disk? Learned from what zr_saw_io is told. */
bool zr_is_cold(const struct zr_container *c);

/* About how many bytes the calling thread has read from disks. */
uint64_t zr_thread_io(void);

/* Tell that a gather or a prefetch of `bytes` read `io` of them from a disk. */
void zr_saw_io(const struct zr_container *c, uint64_t io, uint64_t bytes);

/* Ask for the stored bytes of these records; bad ids are passed over. Returns
 * how many bytes that is. */
uint64_t zr_ask(const struct zr_container *c, const uint64_t *ids,
		size_t count);

#endif
