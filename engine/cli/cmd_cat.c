/* SPDX-License-Identifier: BSD-2-Clause
 * zrecord cat: records to standard output. */
#include <errno.h>
#include <string.h>

#include "common/each.h"
#include "common/options.h"

static int put(void *ctx, const char *text, size_t len)
{
	(void)ctx;
	return fwrite(text, 1, len, stdout) == len ? 0 : -1;
}

static int written(int rc)
{
	return rc ? cli_fail("writing to standard output failed: %s",
			     strerror(errno))
		  : CLI_OK;
}

static int cat_text(void *ctx, const struct zr_info *info,
		    const struct each *rec)
{
	int *before = ctx, rank = (int)rec->shape.rank;

	/* A scalar is a line, of which a program reads a column. */
	if (*before > 0 || (*before == 0 && rank > 0))
		putchar('\n');
	*before = rank;
	return written(
		zr_text(&info->dtype, &rec->shape, rec->elements, put, NULL));
}

static int cat_json(void *ctx, const struct zr_info *info,
		    const struct each *rec)
{
	int rc = zr_json(&info->dtype, &rec->shape, rec->elements, put, NULL);

	(void)ctx;
	if (!rc)
		rc = put(NULL, "\n", 1);
	return written(rc);
}

static int cat_raw(void *ctx, const struct zr_info *info,
		   const struct each *rec)
{
	(void)ctx;
	(void)info;
	return written(put(NULL, rec->elements, (size_t)rec->bytes));
}

static int cat_npy(void *ctx, const struct zr_info *info,
		   const struct each *rec)
{
	char header[ZR_NPY_HEADER_MAX];
	size_t len;

	if (zr_npy_header(header, sizeof(header), &len, &info->dtype,
			  &rec->shape) ||
	    put(NULL, header, len))
		return written(-1);
	return cat_raw(ctx, info, rec);
}

static const struct {
	const char *name;
	each_fn fn;
} forms[] = {
	{ "text", cat_text },
	{ "npy", cat_npy },
	{ "raw", cat_raw },
	{ "json", cat_json },
};

static each_fn find_form(const char *name)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (!strcmp(forms[i].name, name))
			return forms[i].fn;
	return NULL;
}

static int run(const struct command *cmd, int argc, char **argv)
{
	const char *as = NULL;
	const struct option_row rows[] = {
		{ "as", NULL, &as },
		{ "no-checksums", &cli_no_checksums, NULL },
		{ NULL, NULL, NULL },
	};
	each_fn form = cat_text;
	struct zr_selection sel;
	struct zr_container *c;
	int before = -1; /* rank of the last record, -1: there is none */
	int status = options_take(cmd, rows, argc, argv);

	if (status >= 0)
		return status;
	if (as && !(form = find_form(as)))
		return cli_usage(cmd,
				 "--as takes text, npy, raw or json, not '%s'",
				 as);
	if (argc - optind != 2)
		return cli_usage(cmd, "expected a container and a selection");
	c = cli_open(argv[optind], 0);
	if (!c)
		return CLI_FAILED;
	status = each_parse(cmd, c, argv[optind], argv[optind + 1], &sel);
	if (!status) {
		status = each_record(c, &sel, form, &before);
		zr_selection_free(&sel);
	}
	zr_close(c);
	return status ? (fflush(stdout), status) : cli_flush(status);
}

const struct command cmd_cat = {
	"cat",
	"[--as text|npy|raw|json] CONTAINER SELECTION",
	"Write records to standard output. SELECTION is ids and Python slices\n"
	"joined by commas: 5   0,5,2   10:20   ::-1   Negative ids and ends "
	"are\n"
	"not supported.\n\n"
	"  --as text   numbers, the last axis on a line, records apart by an\n"
	"              empty line, but for scalars (default)\n"
	"  --as npy    each record as a whole .npy file, one after the other\n"
	"  --as raw    the bytes of the elements, nothing between records: "
	"lines\n"
	"              of text as they are\n"
	"  --as json   each record as a nested list on a line\n"
	"  --no-checksums   do not compare with check.zr\n",
	run,
};
