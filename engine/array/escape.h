/* SPDX-License-Identifier: BSD-2-Clause
 * Strings of arrays as text. */
#ifndef ZR_ESCAPE_H
#define ZR_ESCAPE_H

#include "out.h"

/* Strings of `size` bytes, padded by NUL. In text, what would break columns
 * or confuse a terminal is escaped. In JSON, a byte of an S is the character
 * of that number. */
void zr_out_bytes(struct zr_out *o, const unsigned char *p, size_t size,
		  bool json);
void zr_out_ucs4(struct zr_out *o, const unsigned char *p, size_t size,
		 bool swap, bool json);

#endif
