/* SPDX-License-Identifier: BSD-2-Clause
 * A container packed into one input, and put on disk from there.
 *
 *     u8   PACK_* flags
 *     u8   for the target: how to open it
 *     u16  bytes of head, of table, of dict.zr, of check.zr   (little-endian)
 *     ...  these four, one after the other; the rest is data.zr
 *
 * meta.zr is the head, filled up with zeros to 4096 bytes, and the table.
 * make_seeds.py packs the same way. */
#ifndef PACK_H
#define PACK_H

#include <stdint.h>
#include <sys/types.h>

#define PACK_DICT 1u    /* there is a dict.zr */
#define PACK_CHECK 2u   /* there is a check.zr */
#define PACK_CUT 4u     /* meta.zr ends with the head */
#define PACK_SEAL 8u    /* the hashes of check.zr are put right */
#define PACK_RECORD 16u /* the header fits the files: only records are bad */

#define PACK_HEAD 4096u

struct pack {
	unsigned flags, how;
	uint8_t head[PACK_HEAD];
	uint8_t *table, *dict, *check, *data; /* each of exactly its size */
	size_t head_size, table_size, dict_size, check_size, data_size;
};

/* Take an input apart; `force` are flags that are set whatever it says. */
void pack_read(struct pack *p, const uint8_t *data, size_t size,
	       unsigned force);
void pack_free(struct pack *p);

/* Put the container at the path that is returned, over the one before. */
const char *pack_write(const struct pack *p);

#endif
