/* SPDX-License-Identifier: BSD-2-Clause
 * What the files that turn elements into text share: a buffered output and
 * the writers of one value. */
#ifndef ZR_TEXT_H
#define ZR_TEXT_H

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

/* A float of `size` bytes (2, 4, 8, 16) in the byte order of the machine;
 * with `plus` one that has no sign gets a '+'. */
void zr_out_float(struct zr_out *o, const void *value, size_t size, bool plus);
/* Is it neither infinite nor NaN? */
bool zr_float_finite(const void *value, size_t size);

/* The unit of a time dtype, coarsest first. */
enum zr_unit {
	ZR_UNIT_NONE,
	ZR_UNIT_YEAR,
	ZR_UNIT_MONTH,
	ZR_UNIT_WEEK,
	ZR_UNIT_DAY,
	ZR_UNIT_HOUR,
	ZR_UNIT_MINUTE,
	ZR_UNIT_SECOND,
	ZR_UNIT_MS,
	ZR_UNIT_US,
	ZR_UNIT_NS,
	ZR_UNIT_PS,
	ZR_UNIT_FS,
	ZR_UNIT_AS
};
struct zr_time {
	enum zr_unit unit;
	uint32_t multiplier;
};
#define ZR_NAT INT64_MIN

struct zr_time zr_time_of(const struct zr_dtype *dtype);
/* ISO 8601 as NumPy writes it; any value but NaT. */
void zr_out_date(struct zr_out *o, struct zr_time time, int64_t v);

/* Strings of `size` bytes, padded by NUL. In text, what would break columns
 * or confuse a terminal is escaped. In JSON, a byte of an S is the character
 * of that number. */
void zr_out_bytes(struct zr_out *o, const unsigned char *p, size_t size,
		  bool json);
void zr_out_ucs4(struct zr_out *o, const unsigned char *p, size_t size,
		 bool swap, bool json);

/* How to write the elements of an array. */
struct zr_element {
	void (*write)(struct zr_out *o, const struct zr_element *e,
		      const unsigned char *p);
	size_t size;
	struct zr_time time;
	bool swap; /* the other byte order than this machine's */
	bool json;
};

void zr_element_init(struct zr_element *e, const struct zr_dtype *dtype,
		     bool json);

#endif
