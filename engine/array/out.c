/* SPDX-License-Identifier: BSD-2-Clause
 * Where text goes: a buffer in front of the sink, and integers in decimal. */
#include "out.h"

#include <string.h>

void zr_out_flush(struct zr_out *o)
{
	if (!o->rc && o->len)
		o->rc = o->put(o->ctx, o->buf, o->len);
	o->len = 0;
}

void zr_out_text(struct zr_out *o, const char *text)
{
	for (; *text; text++)
		zr_out_char(o, *text);
}

void zr_out_padded(struct zr_out *o, uint64_t v, unsigned width)
{
	char *p = zr_out_room(o, width);

	for (unsigned i = width; i--; v /= 10)
		p[i] = (char)('0' + v % 10);
	o->len += width;
}

/* Two digits at a time: one division by 100 instead of two by 10. */
void zr_out_u64(struct zr_out *o, uint64_t v)
{
	char digits[20], *p = digits + sizeof(digits);
	size_t n;

	while (v >= 100) {
		unsigned two = (unsigned)(v % 100);

		v /= 100;
		*--p = (char)('0' + two % 10);
		*--p = (char)('0' + two / 10);
	}
	if (v >= 10)
		*--p = (char)('0' + v % 10);
	*--p = (char)('0' + (v >= 10 ? v / 10 : v));
	n = (size_t)(digits + sizeof(digits) - p);
	memcpy(zr_out_room(o, n), p, n);
	o->len += n;
}

void zr_out_i64(struct zr_out *o, int64_t v)
{
	if (v < 0)
		zr_out_char(o, '-');
	zr_out_u64(o, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}
