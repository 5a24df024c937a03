/* SPDX-License-Identifier: BSD-2-Clause
 * File names of records and batches: index <-> zero-padded digits. */
#include "name.h"

#include <string.h>

#define WIDTH_MIN 6
#define WIDTH_MAX 20

static unsigned digits_of(uint64_t value)
{
	unsigned n = 1;

	while (value >= 10) {
		value /= 10;
		n++;
	}
	return n;
}

unsigned name_width(uint64_t count)
{
	unsigned n = digits_of(count ? count - 1 : 0);

	return n < WIDTH_MIN ? WIDTH_MIN : n;
}

size_t name_format(char buf[static NAME_ROOM], uint64_t index, unsigned width,
		   const char *suffix)
{
	unsigned n = digits_of(index);
	size_t len = strlen(suffix);

	if (n < width)
		n = width < WIDTH_MAX ? width : WIDTH_MAX;
	for (unsigned i = n; i > 0; i--) {
		buf[i - 1] = (char)('0' + index % 10);
		index /= 10;
	}
	memcpy(buf + n, suffix, len + 1);
	return n + len;
}

/* Returns the first byte after the digits, or NULL if there are none or
 * their value is over 64 bits. */
static const char *parse_digits(const char *p, uint64_t *value)
{
	uint64_t v = 0;

	if (*p < '0' || *p > '9')
		return NULL;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (unsigned)(*p - '0'), &v))
			return NULL;
	}
	*value = v;
	return p;
}

bool name_parse(const char *name, const char *suffix, uint64_t *index)
{
	uint64_t v;
	const char *end = parse_digits(name, &v);

	if (!end || strcmp(end, suffix) != 0)
		return false;
	*index = v;
	return true;
}

bool name_parse_number(const char *name, uint64_t *value)
{
	uint64_t v;
	const char *end = parse_digits(name, &v);

	if (!end || *end || (name[0] == '0' && name[1]))
		return false;
	*value = v;
	return true;
}
