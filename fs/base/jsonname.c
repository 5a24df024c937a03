/* SPDX-License-Identifier: BSD-2-Clause
 * File names in JSON. */
#include "jsonname.h"

#include <stdbool.h>
#include <string.h>

/* Bytes of the UTF-8 sequence at p, or 0 if there is none. */
static unsigned sequence(const unsigned char *p)
{
	static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned n = p[0] < 0x80   ? 1
		     : p[0] < 0xC0 ? 0
		     : p[0] < 0xE0 ? 2
		     : p[0] < 0xF0 ? 3
		     : p[0] < 0xF8 ? 4
				   : 0;
	unsigned value = n > 1 ? p[0] & (0x7Fu >> n) : p[0];

	/* The NUL at the end is no continuation. */
	for (unsigned i = 1; i < n; i++) {
		if ((p[i] & 0xC0) != 0x80)
			return 0;
		value = value << 6 | (p[i] & 0x3F);
	}
	if (n > 1 && (value < least[n] || value > 0x10FFFF ||
		      (value >= 0xD800 && value < 0xE000)))
		return 0;
	return n;
}

void json_name(FILE *out, const char *name)
{
	putc('"', out);
	for (const unsigned char *p = (const unsigned char *)name; *p;) {
		unsigned n = sequence(p);

		if (!n)
			fprintf(out, "\\udc%02x", *p);
		else if (*p < ' ' || *p == 0x7F)
			fprintf(out, "\\u%04x", *p);
		else if (*p == '"' || *p == '\\')
			fprintf(out, "\\%c", *p);
		else
			fwrite(p, 1, n, out);
		p += n ? n : 1;
	}
	putc('"', out);
}
