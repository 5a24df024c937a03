/* SPDX-License-Identifier: BSD-2-Clause
 * The room array: what NumPy knows: types, shapes, .npy headers, selections of
 * ids, elements as text; nothing of files.
 *
 * Where text goes: a buffer in front of the sink, and integers in decimal. */
#ifndef ZR_OUT_H
#define ZR_OUT_H

#include "zrecord.h"

/* No number has more bytes of text: 36 digits, 16 zeros, sign, exponent. */
#define ZR_NUMBER_MAX 80

/* Collects text for `put`. Once it failed, what follows goes nowhere and rc
 * stays, so that writers need not look. */
struct zr_out {
	zr_put_fn put;
	void *ctx;
	int rc;
	size_t len;
	char buf[8192];
};

void zr_out_flush(struct zr_out *o);

/* Room for `n` bytes, at most ZR_NUMBER_MAX. Count them in o->len. */
static inline char *zr_out_room(struct zr_out *o, size_t n)
{
	if (sizeof(o->buf) - o->len < n)
		zr_out_flush(o);
	return o->buf + o->len;
}

static inline void zr_out_char(struct zr_out *o, char c)
{
	*zr_out_room(o, 1) = c;
	o->len++;
}

void zr_out_text(struct zr_out *o, const char *text);
void zr_out_u64(struct zr_out *o, uint64_t v);
void zr_out_i64(struct zr_out *o, int64_t v);
/* `v` with zeros in front up to `width` digits, which must suffice. */
void zr_out_padded(struct zr_out *o, uint64_t v, unsigned width);

#endif
