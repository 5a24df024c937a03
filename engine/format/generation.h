/* SPDX-License-Identifier: BSD-2-Clause
 * The forms that versions of loaderx gave to a container (FORMAT.md F12). None
 * has a version field: they are told apart by what must hold in each. */
#ifndef ZR_GENERATION_H
#define ZR_GENERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum zr_generation {
	ZR_G0, /* Ragged records whose rank has 8 bytes; else as G1 */
	ZR_G1, /* the form of docs/FORMAT.md, and what damage is taken for */
	ZR_G2, /* the rank in the schema, not in the records */
	ZR_G3, /* and data_0.zr, data_1.zr, ...; another header */
	ZR_G4, /* and dtypes by name */
	ZR_G5, /* and a schema in JSON; G6 differs in Ragged records */
};

/* Tell from the first 4096 bytes of meta.zr, and whether there is a data_0.zr
 * beside it, which form this is. Another than ZR_G1 is only returned if all
 * that is fixed in that form holds. */
enum zr_generation zr_generation_of(const unsigned char *head, bool sharded);

/* Whether the `len` bytes at `p` are or begin a Ragged record of `logic` bytes
 * of ZR_G0. */
bool zr_is_g0_record(const unsigned char *p, size_t len, uint32_t logic,
		     uint32_t itemsize);

/* The versions of loaderx that write this form, as text. */
const char *zr_generation_writers(enum zr_generation g);

#endif
