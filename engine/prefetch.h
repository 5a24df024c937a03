/* SPDX-License-Identifier: BSD-2-Clause
 * Whether the data of a container is in memory, and asking the disk for it. */
#ifndef ZR_PREFETCH_H
#define ZR_PREFETCH_H

#include "container.h"

/* May reading from `c` wait for a disk? Learned from what zr_saw_io is told. */
bool zr_is_cold(const struct zr_container *c);

/* A number that grows when the calling thread reads from a disk. */
uint64_t zr_thread_io(void);

/* Tell whether a gather or a prefetch made the disk work. */
void zr_saw_io(const struct zr_container *c, bool some);

/* Ask for the stored bytes of these records; bad ids are passed over. */
void zr_ask(const struct zr_container *c, const uint64_t *ids, size_t count);

#endif
