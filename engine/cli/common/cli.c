/* SPDX-License-Identifier: BSD-2-Clause
 * Messages, numbers and other things that all subcommands need. */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "screen.h"

bool cli_no_checksums, cli_quiet;
atomic_bool cli_ended;

/* A name may hold a newline; a message is one line. */
__attribute__((format(printf, 3, 0))) static void
print_line(const char *before, const char *after, const char *fmt, va_list ap)
{
	char text[2048], line[SCREEN_LINE];

	vsnprintf(text, sizeof(text), fmt, ap);
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < 0x20)
			*p = '?';
	snprintf(line, sizeof(line), "%s%s%s\n", before, text, after);
	screen_line(line);
}

int cli_fail(const char *fmt, ...)
{
	va_list ap;

	if (atomic_load(&cli_ended))
		return CLI_FAILED;
	va_start(ap, fmt);
	print_line("zrecord: ", "", fmt, ap);
	va_end(ap);
	return CLI_FAILED;
}

void cli_note(const char *fmt, ...)
{
	va_list ap;

	if (cli_quiet)
		return;
	va_start(ap, fmt);
	print_line("", "", fmt, ap);
	va_end(ap);
}

int cli_error(const struct zr_error *err)
{
	return cli_fail("%s", err->message);
}

int cli_usage(const struct command *cmd, const char *fmt, ...)
{
	char before[64], after[64];
	va_list ap;

	snprintf(before, sizeof(before), "zrecord %s: ", cmd->name);
	snprintf(after, sizeof(after), "; try 'zrecord help %s'", cmd->name);
	va_start(ap, fmt);
	print_line(before, after, fmt, ap);
	va_end(ap);
	return CLI_USAGE;
}

bool cli_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' ||
		    __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*text - '0'), &v))
			return false;
	}
	*out = v;
	return v >= min && v <= max;
}

const char *cli_quote(char *buf, size_t size, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./:,@%";
	size_t n = 0;

	if (*word && !word[strspn(word, plain)]) {
		snprintf(buf, size, "%s", word);
		return buf;
	}
	buf[n++] = '\'';
	for (; *word && n + 6 < size; word++) {
		if (*word == '\'') {
			memcpy(buf + n, "'\\'", 3);
			n += 3;
		}
		buf[n++] = *word;
	}
	buf[n++] = '\'';
	buf[n] = '\0';
	return buf;
}

struct zr_container *cli_open(const char *path, uint32_t flags)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	struct zr_container *c;
	struct zr_error err;

	opt.flags = flags |
		    (cli_no_checksums ? ZR_OPEN_NO_CHECKSUMS : ZR_OPEN_CHECK);
	if (zr_open(&c, path, &opt, &err))
		cli_error(&err);
	return c;
}

int cli_flush(int status)
{
	if (fflush(stdout) || ferror(stdout))
		return cli_fail("writing to standard output failed: %s",
				strerror(errno));
	return status;
}

/* Of a folder or a pipe, reading fails late or waits. */
static int check_file(const char *path, uint64_t most, size_t *len)
{
	struct stat st;

	if (stat(path, &st))
		return cli_fail("%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return cli_fail("%s: not a regular file", path);
	if (!st.st_size)
		return cli_fail("%s: is empty", path);
	if ((uint64_t)st.st_size > most)
		return cli_fail("%s: has %llu bytes, expected at most %llu",
				path, (unsigned long long)st.st_size,
				(unsigned long long)most);
	*len = (size_t)st.st_size;
	return CLI_OK;
}

int cli_read_file(const char *path, uint64_t most, unsigned char **out,
		  size_t *len)
{
	FILE *f;

	*out = NULL;
	if (check_file(path, most, len))
		return CLI_FAILED;
	f = fopen(path, "re");
	if (!f)
		return cli_fail("%s: %s", path, strerror(errno));
	*out = malloc(*len);
	if (!*out) {
		cli_fail("%s: no memory for its %zu bytes", path, *len);
	} else if (fread(*out, 1, *len, f) != *len) {
		cli_fail("%s: reading: %s", path,
			 ferror(f) ? strerror(errno) : "it was cut meanwhile");
		free(*out);
		*out = NULL;
	}
	fclose(f);
	return *out ? CLI_OK : CLI_FAILED;
}

int cli_name_digits(uint64_t records)
{
	int digits = 1;

	for (uint64_t last = records ? records - 1 : 0; last >= 10; last /= 10)
		digits++;
	return digits < 6 ? 6 : digits;
}

const char *cli_size(uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB",
					     "TiB", "PiB", "EiB" };
	static char text[32];
	double v = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(text, sizeof(text), "%u bytes", (unsigned)bytes);
		return text;
	}
	while (v >= 1024 && unit < 5) {
		v /= 1024;
		unit++;
	}
	snprintf(text, sizeof(text), "%.1f %s", v, units[unit]);
	return text;
}
