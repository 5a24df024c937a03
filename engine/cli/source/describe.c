/* SPDX-License-Identifier: BSD-2-Clause
 * What a container is, in words. */
#include "describe.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void describe_shape(FILE *f, const struct zr_shape *shape)
{
	putc('(', f);
	for (uint32_t i = 0; i < shape->rank; i++)
		fprintf(f, "%s%llu", i ? ", " : "",
			(unsigned long long)shape->dims[i]);
	fputs(shape->rank == 1 ? ",)" : ")", f);
}

uint64_t describe_bytes(const char *path)
{
	static const char *const names[] = { "meta.zr", "data.zr", "dict.zr",
					     "check.zr" };
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct stat st;
		char *file;

		if (asprintf(&file, "%s/%s", path, names[i]) < 0)
			return 0;
		if (!stat(file, &st))
			sum += (uint64_t)st.st_size;
		free(file);
	}
	return sum;
}

static void print_made(FILE *f, const struct zr_container *c, const char *path)
{
	const struct zr_info *info = zr_info(c);
	bool dense = info->kind == ZR_DENSE;

	fprintf(f, "%s: %llu record%s, %s %s", path,
		(unsigned long long)info->records,
		info->records == 1 ? "" : "s", dense ? "dense" : "ragged",
		info->dtype.str);
	if (dense) {
		putc(' ', f);
		describe_shape(f, &info->item_shape);
	}
	fprintf(f, ", %s", zr_codec_name(info->codec));
	if (info->codec != ZR_RAW && info->stored_bytes)
		fprintf(f, " %.1f x",
			(double)zr_logical_bytes(c) /
				(double)info->stored_bytes);
	fprintf(f, ", %s", cli_size(describe_bytes(path)));
}

static void print_left_out(FILE *f, const struct paths *p)
{
	fprintf(f, "left out, as hidden or no .npy file: %llu, the first is "
		   "'%s'",
		(unsigned long long)p->others, p->other);
}

/* What print_made and print_left_out make of these; each may be NULL. */
static void note(const struct zr_container *c, const char *path,
		 const struct paths *p)
{
	char *line = NULL;
	size_t len;
	FILE *f = open_memstream(&line, &len);

	if (f && c)
		print_made(f, c, path);
	if (f && c && p)
		fputs("; ", f);
	if (f && p)
		print_left_out(f, p);
	if (f && !fclose(f))
		cli_note("%s%s", c ? "" : "zrecord: ", line);
	free(line);
}

void describe_made(const char *path, const struct source *src)
{
	struct zr_container *c;
	struct zr_error err;

	if (cli_quiet || zr_open(&c, path, NULL, &err))
		return;
	note(c, path, src->files.others ? &src->files : NULL);
	zr_close(c);
}

void describe_left_out(const struct source *src)
{
	if (src->files.others)
		note(NULL, NULL, &src->files);
}
