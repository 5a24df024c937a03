/* SPDX-License-Identifier: BSD-2-Clause
 * Paths in JSON. */
#include "jsonpath.h"

#include <stdbool.h>
#include <stdio.h>

static bool is_utf8(const unsigned char *s)
{
	while (*s) {
		unsigned more = *s < 0x80   ? 0
				: *s < 0xc2 ? 9
				: *s < 0xe0 ? 1
				: *s < 0xf0 ? 2
				: *s < 0xf5 ? 3
					    : 9;
		unsigned first = *s++;

		if (more == 9)
			return false;
		/* Overlong forms, surrogates, beyond U+10FFFF. */
		if ((first == 0xe0 && *s < 0xa0) ||
		    (first == 0xed && *s > 0x9f) ||
		    (first == 0xf0 && *s < 0x90) ||
		    (first == 0xf4 && *s > 0x8f))
			return false;
		for (; more; more--)
			if ((*s++ & 0xc0) != 0x80)
				return false;
	}
	return true;
}

void json_path(const char *path)
{
	const unsigned char *s = (const unsigned char *)path;
	bool utf8 = is_utf8(s);

	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if (*s < 0x20 || (*s >= 0x80 && !utf8))
			printf("\\u%04x", *s);
		else
			putchar(*s);
	}
	putchar('"');
}
