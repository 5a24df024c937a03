/* SPDX-License-Identifier: BSD-2-Clause
 * Little-endian loads and stores at any alignment. */
#ifndef ZR_LE_H
#define ZR_LE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t zr_le32(const void *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline uint64_t zr_le64(const void *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static inline void zr_put_le32(void *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void zr_put_le64(void *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

#endif
