/* SPDX-License-Identifier: BSD-2-Clause
 * One line on stderr. */
#include "say.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void say(const char *format, ...)
{
	static const char prefix[] = "zrecordfs: ";
	const size_t start = sizeof(prefix) - 1;
	char line[1280] = "zrecordfs: ";
	size_t room = sizeof(line) - start - 1, len;
	ssize_t ignored;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(line + start, room, format, ap);
	va_end(ap);
	len = n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
	line[start + len] = '\n';
	/* Nobody is left to tell if stderr does not take it. */
	ignored = write(STDERR_FILENO, line, start + len + 1);
	(void)ignored;
}
