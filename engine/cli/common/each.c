/* SPDX-License-Identifier: BSD-2-Clause
 * The records of a selection, one after the other. */
#include "each.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IDS 1024
/* Of the text of a selection in a file. */
#define SELECTION_MAX ((uint64_t)1 << 30)

int each_parse(const struct command *cmd, const struct zr_container *c,
	       const char *path, const char *text, struct zr_selection *out)
{
	struct zr_error err;
	unsigned char *file = NULL;
	size_t len = strlen(text);
	int rc;

	if (*text == '@') {
		if (cli_read_file(text + 1, SELECTION_MAX, &file, &len))
			return CLI_FAILED;
		while (len && file[len - 1] == '\n')
			len--;
	}
	rc = zr_selection_parse(out, file ? (char *)file : text, len,
				zr_info(c)->records, &err);
	free(file);
	if (!rc)
		return CLI_OK;
	if (rc == -EINVAL)
		return cli_usage(cmd, "%s", err.message);
	return cli_fail("%s: %s", path, err.message);
}

struct walk {
	struct zr_reader *r;
	const struct zr_container *c;
	unsigned char *buf;
	size_t size;
};

static int read_one(struct walk *w, uint64_t id, struct each *rec,
		    struct zr_error *err)
{
	uint64_t need = zr_record_bound(w->c, id);

	if (need > w->size) {
		free(w->buf);
		w->size = 0;
		w->buf = malloc((size_t)need);
		if (!w->buf) {
			snprintf(err->message, sizeof(err->message),
				 "record %llu: no memory for %llu bytes",
				 (unsigned long long)id,
				 (unsigned long long)need);
			return -ENOMEM;
		}
		w->size = (size_t)need;
	}
	rec->id = id;
	rec->elements = w->buf;
	return zr_read(w->r, id, w->buf, w->size, &rec->bytes, &rec->shape,
		       err);
}

static int walk(struct walk *w, const struct zr_selection *sel, each_fn fn,
		void *ctx)
{
	const struct zr_info *info = zr_info(w->c);
	uint64_t count = sel ? sel->count : info->records;
	uint64_t ids[IDS];

	for (uint64_t at = 0; at < count; at += IDS) {
		size_t n = count - at < IDS ? (size_t)(count - at) : IDS;

		if (sel)
			n = zr_selection_ids(sel, at, n, ids);
		for (size_t i = 0; i < n; i++) {
			struct zr_error err;
			struct each rec;
			int rc = read_one(w, sel ? ids[i] : at + i, &rec, &err);

			if (rc)
				return cli_error(&err);
			rc = fn(ctx, info, &rec);
			if (rc)
				return rc;
		}
	}
	return CLI_OK;
}

int each_record(const struct zr_container *c, const struct zr_selection *sel,
		each_fn fn, void *ctx)
{
	struct walk w = { .c = c };
	int status;

	if (zr_reader_new(&w.r, c, NULL))
		return cli_fail("no memory");
	status = walk(&w, sel, fn, ctx);
	free(w.buf);
	zr_reader_free(w.r);
	return status;
}
