/* SPDX-License-Identifier: BSD-2-Clause
 * The closed grammar of dtypes that a container can hold (FORMAT.md F3). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "zrecord.h"

/* NumPy keeps item sizes and multipliers in an int. */
#define ITEM_MAX ((uint64_t)INT32_MAX)
#define MULTIPLIER_MAX ((uint64_t)INT32_MAX)

/* Numbers: one letter and the sizes it comes in, powers of two added up. */
static const struct {
	char kind;
	unsigned sizes;
} numbers[] = {
	{ 'b', 1 },
	{ 'i', 1 + 2 + 4 + 8 },
	{ 'u', 1 + 2 + 4 + 8 },
	{ 'f', 2 + 4 + 8 + 16 },
	{ 'c', 8 + 16 + 32 },
};

/* A plain decimal without sign or leading zero, at most `max`. */
static bool decimal(const char *p, size_t len, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	if (!len || len > 10 || (p[0] == '0' && len > 1))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(p[i] - '0');
	}
	*out = v;
	return v <= max;
}

static bool known_number(char kind, uint64_t size)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i].kind == kind)
			return (numbers[i].sizes & size) &&
			       !(size & (size - 1));
	return false;
}

static bool known_unit(const char *p, size_t len)
{
	static const char units[][3] = { "Y",  "M",  "W",  "D",  "h",  "m", "s",
					 "ms", "us", "ns", "ps", "fs", "as" };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i]) == len && !memcmp(units[i], p, len))
			return true;
	return false;
}

/* The text after "<M8": "", "[unit]" or "[25unit]". Writes the canonical
 * form, in which a multiplier of 1 and the generic unit are left out. */
static bool time_unit(const char *p, size_t len, char *out, size_t room)
{
	uint64_t multiplier = 1;
	size_t digits = 0;

	out[0] = '\0';
	if (!len)
		return true;
	if (len < 3 || p[0] != '[' || p[len - 1] != ']')
		return false;
	p++;
	len -= 2;
	if (len == 7 && !memcmp(p, "generic", 7))
		return true;
	while (digits < len && p[digits] >= '0' && p[digits] <= '9')
		digits++;
	if (digits &&
	    (!decimal(p, digits, MULTIPLIER_MAX, &multiplier) || !multiplier))
		return false;
	p += digits;
	len -= digits;
	if (!known_unit(p, len))
		return false;
	if (multiplier == 1)
		snprintf(out, room, "[%.*s]", (int)len, p);
	else
		snprintf(out, room, "[%u%.*s]", (unsigned)multiplier, (int)len,
			 p);
	return true;
}

static int fill(struct zr_dtype *out, char order, char kind, uint64_t count,
		uint64_t itemsize, const char *unit)
{
	if (kind == 'S' || kind == 'V' || (itemsize == 1 && kind != 'U'))
		order = '|';
	else if (order == '|')
		return -EINVAL;
	if (itemsize > ITEM_MAX)
		return -EINVAL;
	if (itemsize < 1)
		return -ENOTSUP;
	memset(out, 0, sizeof(*out));
	out->kind = kind;
	out->order = order;
	out->itemsize = (uint32_t)itemsize;
	snprintf(out->str, sizeof(out->str), "%c%c%u%s", order, kind,
		 (unsigned)count, unit);
	return 0;
}

/* Objects and structures, in NumPy's spellings. */
static bool unstorable(const char *text, size_t len)
{
	size_t kind = len && memchr("<>|=", text[0], 4) ? 1 : 0;

	if (len && (text[0] == '[' || memchr(text, ',', len)))
		return true;
	if (kind >= len || text[kind] != 'O')
		return false;
	return len == kind + 1 || (len == kind + 2 && text[kind + 1] == '8');
}

int zr_dtype_parse(struct zr_dtype *out, const char *text, size_t len)
{
	uint64_t size;
	char unit[20];

	if (unstorable(text, len))
		return -ENOTSUP;
	if (len < 3 || !memchr("<>|", text[0], 3))
		return -EINVAL;
	if (text[1] == 'M' || text[1] == 'm') {
		if (text[2] != '8' ||
		    !time_unit(text + 3, len - 3, unit, sizeof(unit)))
			return -EINVAL;
		return fill(out, text[0], text[1], 8, 8, unit);
	}
	if (!decimal(text + 2, len - 2, ITEM_MAX, &size))
		return -EINVAL;
	if (text[1] == 'U')
		return fill(out, text[0], 'U', size, size * 4, "");
	if (text[1] == 'S' || text[1] == 'V')
		return fill(out, text[0], text[1], size, size, "");
	if (!known_number(text[1], size))
		return -EINVAL;
	return fill(out, text[0], text[1], size, size, "");
}

int zr_shape_size(const struct zr_dtype *dtype, const struct zr_shape *shape,
		  uint64_t *items, uint64_t *bytes)
{
	uint64_t n = 1, size;

	if (shape->rank > ZR_RANK_MAX)
		return -EINVAL;
	/* A dimension of 0 makes 0 elements whatever the others would
	 * multiply to. */
	for (uint32_t i = 0; i < shape->rank; i++)
		if (!shape->dims[i])
			n = 0;
	for (uint32_t i = 0; i < shape->rank && n; i++)
		if (!zr_mul(n, shape->dims[i], &n))
			return -EINVAL;
	if (!zr_mul(n, dtype->itemsize, &size) || size > INT64_MAX)
		return -EINVAL;
	if (items)
		*items = n;
	if (bytes)
		*bytes = size;
	return 0;
}
