/* SPDX-License-Identifier: BSD-2-Clause
 * The functions of the library about dtypes, .npy and text, for
 * npy_numpy.py: a line in, a line out.
 *
 *     npy_tool dtype     HEX                   str order itemsize, or error
 *     npy_tool header    DESCR DIM...          HEX of the header, or error
 *     npy_tool parse     HEX                   descr order dims, or error
 *     npy_tool text|json PATH of a .npy file   length, newline, that output
 *
 * An error is "! CODE TEXT". The locale is that of the environment: it must
 * not matter. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zrecord.h"

struct buffer {
	char *p;
	size_t len, size;
};

static int append(void *ctx, const char *text, size_t len)
{
	struct buffer *b = ctx;

	if (b->size - b->len < len) {
		b->size = (b->size + len) * 2;
		b->p = realloc(b->p, b->size);
		if (!b->p)
			abort();
	}
	memcpy(b->p + b->len, text, len);
	b->len += len;
	return 0;
}

static const char *name(int code)
{
	return code == -EINVAL    ? "EINVAL"
	       : code == -ENOTSUP ? "ENOTSUP"
	       : code == -EUCLEAN ? "EUCLEAN"
				  : "other";
}

static size_t from_hex(const char *line, unsigned char *out)
{
	size_t n = 0;
	unsigned byte;

	for (; sscanf(line, "%2x", &byte) == 1; line += 2)
		out[n++] = (unsigned char)byte;
	return n;
}

static void do_dtype(const char *line, unsigned char *bytes)
{
	struct zr_dtype d;
	size_t len = from_hex(line, bytes);
	int rc = zr_dtype_parse(&d, (char *)bytes, len);

	if (rc)
		printf("! %s\n", name(rc));
	else
		printf("%s %c %u\n", d.str, d.order, d.itemsize);
}

static void do_header(char *line)
{
	unsigned char header[ZR_NPY_HEADER_MAX];
	char *save, *word = strtok_r(line, " ", &save);
	struct zr_shape shape = { 0 };
	struct zr_dtype d;
	size_t len;
	int rc = zr_dtype_parse(&d, word, strlen(word));

	while ((word = strtok_r(NULL, " ", &save)))
		shape.dims[shape.rank++] = strtoull(word, NULL, 10);
	if (!rc)
		rc = zr_npy_header(header, sizeof(header), &len, &d, &shape);
	if (rc) {
		printf("! %s\n", name(rc));
		return;
	}
	for (size_t i = 0; i < len; i++)
		printf("%02x", header[i]);
	printf("\n");
}

static void do_parse(const char *line, unsigned char *bytes)
{
	struct zr_npy npy;
	struct zr_error err;
	size_t len = from_hex(line, bytes), claimed;
	int rc = zr_npy_parse(bytes, len, &npy, &err);

	if (rc) {
		printf("! %s %s\n", name(rc), err.message);
		return;
	}
	if (zr_npy_header_bytes(bytes, &claimed) || claimed != npy.header_bytes)
		abort();
	printf("%s %c %zu", npy.dtype.str, npy.fortran_order ? 'F' : 'C',
	       npy.header_bytes);
	for (uint32_t i = 0; i < npy.shape.rank; i++)
		printf(" %llu", (unsigned long long)npy.shape.dims[i]);
	printf("\n");
}

static void do_text(const char *path, struct buffer *out, bool json)
{
	static unsigned char file[1 << 24];
	struct zr_error err = { 0 };
	struct zr_npy npy;
	FILE *f = fopen(path, "rb");
	size_t len = f ? fread(file, 1, sizeof(file), f) : 0;

	if (!f || len == sizeof(file) || zr_npy_parse(file, len, &npy, &err) ||
	    len != npy.header_bytes + npy.data_bytes) {
		fprintf(stderr, "%s: %s\n", path, err.message);
		exit(1);
	}
	fclose(f);
	out->len = 0;
	if ((json ? zr_json : zr_text)(&npy.dtype, &npy.shape,
				       file + npy.header_bytes, append, out))
		abort();
	printf("%zu\n", out->len);
	fwrite(out->p, 1, out->len, stdout);
}

int main(int argc, char **argv)
{
	char *line = NULL;
	struct buffer out = { malloc(4096), 0, 4096 };
	unsigned char *bytes = NULL;
	size_t size = 0;
	ssize_t len;

	setlocale(LC_ALL, "");
	while (argc == 2 && (len = getline(&line, &size, stdin)) > 0) {
		line[len - 1] = '\0';
		bytes = realloc(bytes, size);
		if (!strcmp(argv[1], "dtype"))
			do_dtype(line, bytes);
		else if (!strcmp(argv[1], "header"))
			do_header(line);
		else if (!strcmp(argv[1], "parse"))
			do_parse(line, bytes);
		else
			do_text(line, &out, !strcmp(argv[1], "json"));
	}
	free(line);
	free(bytes);
	free(out.p);
	return argc != 2;
}
