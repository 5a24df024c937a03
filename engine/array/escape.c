/* SPDX-License-Identifier: BSD-2-Clause
 * Strings of arrays to text and to JSON, with what would do harm escaped. */
#include "escape.h"

#include <byteswap.h>
#include <string.h>

/* Characters that separate, are invisible, or turn the direction of what
 * follows: a reader of columns or a person would be misled by them. */
static const struct {
	uint32_t first, last;
} unsafe[] = {
	{ 0x7f, 0xa0 },     { 0xad, 0xad },     { 0x61c, 0x61c },
	{ 0x1680, 0x1680 }, { 0x180e, 0x180e }, { 0x2000, 0x200f },
	{ 0x2028, 0x202f }, { 0x205f, 0x206f }, { 0x3000, 0x3000 },
	{ 0xd800, 0xdfff }, { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb },
};

static bool plain(uint32_t c)
{
	if (c < 0x7f)
		return c > ' ' && c != '"' && c != '\\';
	for (size_t i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++)
		if (c >= unsafe[i].first && c <= unsafe[i].last)
			return false;
	return c <= 0x10ffff;
}

static void put_utf8(struct zr_out *o, uint32_t c)
{
	int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const unsigned char lead[] = { 0, 0xc0, 0xe0, 0xf0 };

	zr_out_char(o, (char)(lead[more] | c >> 6 * more));
	while (more--)
		zr_out_char(o, (char)(0x80 | (c >> 6 * more & 0x3f)));
}

static void put_escape(struct zr_out *o, char letter, uint32_t c, int digits)
{
	zr_out_char(o, '\\');
	zr_out_char(o, letter);
	while (digits--)
		zr_out_char(o, "0123456789abcdef"[c >> 4 * digits & 15]);
}

/* JSON has no escape for numbers beyond Unicode: they are replaced. */
static void put_json(struct zr_out *o, uint32_t c)
{
	if (c > 0x10ffff)
		c = 0xfffd;
	if (c == '"' || c == '\\')
		zr_out_char(o, '\\');
	if (plain(c) || c == ' ' || c == '"' || c == '\\')
		put_utf8(o, c);
	else
		put_escape(o, 'u', c, 4);
}

static void put_column(struct zr_out *o, uint32_t c, bool bytes)
{
	if (c == '"' || c == '\\') {
		zr_out_char(o, '\\');
		zr_out_char(o, (char)c);
	} else if (plain(c) && !(bytes && c > 0x7e)) {
		put_utf8(o, c);
	} else if (c < 0x100) {
		put_escape(o, 'x', c, 2);
	} else if (c < 0x10000) {
		put_escape(o, 'u', c, 4);
	} else {
		put_escape(o, 'U', c, 8);
	}
}

/* An empty string must still be seen to be a column. */
static void put_empty(struct zr_out *o, bool json)
{
	if (!json)
		zr_out_text(o, "\"\"");
}

void zr_out_bytes(struct zr_out *o, const unsigned char *p, size_t size,
		  bool json)
{
	while (size && !p[size - 1])
		size--;
	if (!size)
		put_empty(o, json);
	for (size_t i = 0; i < size; i++)
		if (json)
			put_json(o, p[i]);
		else
			put_column(o, p[i], true);
}

static uint32_t load(const unsigned char *p, size_t i, bool swap)
{
	uint32_t c;

	memcpy(&c, p + 4 * i, sizeof(c));
	return swap ? bswap_32(c) : c;
}

void zr_out_ucs4(struct zr_out *o, const unsigned char *p, size_t size,
		 bool swap, bool json)
{
	size_t n = size / 4;

	while (n && !load(p, n - 1, swap))
		n--;
	if (!n)
		put_empty(o, json);
	for (size_t i = 0; i < n; i++)
		if (json)
			put_json(o, load(p, i, swap));
		else
			put_column(o, load(p, i, swap), false);
}
