/* SPDX-License-Identifier: BSD-2-Clause
 * zrecord recover: a new container of the records that are whole. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/idset.h"
#include "common/jsonpath.h"
#include "common/options.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/stop.h"

/* A selection that is longer is left to --json. */
#define SELECTION_SHOWN 200

struct recover {
	const struct zr_container *c;
	struct zr_reader *r;
	struct zr_writer *w;
	unsigned char *buf;
	size_t size;
	struct idset kept, lost;
	struct zr_error first, last; /* of lost records; last: if another */
	struct zr_error why;         /* no reader takes the source as it is */
};

/* The new container keeps the dictionary. */
static int read_dict(const char *src, unsigned char **dict, size_t *len)
{
	char *path;
	int status;

	if (asprintf(&path, "%s/dict.zr", src) < 0)
		return cli_fail("no memory");
	status = cli_read_file(path, (uint64_t)1 << 31, dict, len);
	free(path);
	return status;
}

static int append(struct recover *k, const struct zr_shape *shape,
		  uint64_t bytes)
{
	uint64_t offsets[2] = { 0, bytes }, dim_offsets[2] = { 0, shape->rank };
	struct zr_shape copy = *shape;
	struct zr_ragged one = { .count = 1,
				 .values = k->buf,
				 .offsets = offsets,
				 .dims = copy.dims,
				 .dim_offsets = dim_offsets };
	struct zr_error err;
	int rc;

	if (zr_info(k->c)->kind == ZR_DENSE)
		rc = zr_append_dense(k->w, k->buf, 1, &err);
	else
		rc = zr_append_ragged(k->w, &one, &err);
	return rc ? cli_error(&err) : CLI_OK;
}

static int lose(struct recover *k, uint64_t id, const struct zr_error *err)
{
	if (!idset_add(&k->lost, id, id + 1))
		return cli_fail("no memory");
	*(k->first.code ? &k->last : &k->first) = *err;
	return CLI_OK;
}

/* The records that the header counts and the table has no more: how many it
 * counts is what a reader that refuses the table has found. */
static int lose_entries(struct recover *k, const char *src)
{
	uint64_t records = zr_info(k->c)->records, count = k->why.found;
	struct zr_error *err = k->first.code ? &k->last : &k->first;

	if (k->why.code != -EUCLEAN || k->why.offset != 0 ||
	    k->why.expected != records || count <= records)
		return CLI_OK;
	if (!idset_add(&k->lost, records, count))
		return cli_fail("no memory");
	err->code = -EBADMSG;
	snprintf(err->message, sizeof(err->message),
		 "%s: record %llu: meta.zr ends before its entry: expected "
		 "entries of %llu records, found %llu",
		 src, (unsigned long long)records, (unsigned long long)count,
		 (unsigned long long)records);
	return CLI_OK;
}

static int recover_one(struct recover *k, uint64_t id)
{
	uint64_t need = zr_record_bound(k->c, id), bytes;
	struct zr_shape shape;
	struct zr_error err;
	int rc;

	if (need > k->size) {
		unsigned char *p = realloc(k->buf, (size_t)need);

		if (!p)
			return cli_fail("no memory for record %llu",
					(unsigned long long)id);
		k->buf = p;
		k->size = (size_t)need;
	}
	rc = zr_read(k->r, id, k->buf, k->size, &bytes, &shape, &err);
	if (rc == -EBADMSG || rc == -EIO)
		return lose(k, id, &err);
	if (rc)
		return cli_error(&err);
	if (!idset_add(&k->kept, id, id + 1))
		return cli_fail("no memory");
	return append(k, &shape, bytes);
}

static int recover_all(struct recover *k, const char *dst)
{
	uint64_t records = zr_info(k->c)->records;
	struct progress bar;
	int status = CLI_OK;

	progress_start(&bar, dst, "records", records);
	for (uint64_t id = 0; id < records && !status; id++) {
		status = recover_one(k, id);
		progress_at(&bar, id);
	}
	progress_end(&bar);
	return status;
}

static void ask_reader(struct recover *k, const char *src)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	struct zr_container *c;

	if (cli_no_checksums)
		opt.flags = ZR_OPEN_NO_CHECKSUMS;
	if (!zr_open(&c, src, &opt, &k->why))
		zr_close(c);
}

/* A build that was not finished is no news. */
static void tell_why(const struct recover *k, const char *src)
{
	if (k->why.code == -EUCLEAN && k->why.offset == 8)
		cli_fail("%s: data.zr has %llu bytes, expected at least %llu; "
			 "no record was in those that are missing",
			 src, (unsigned long long)k->why.expected,
			 (unsigned long long)k->why.found);
	else if (k->why.code && k->why.code != -ENODATA)
		cli_error(&k->why);
}

/* A container of labels must lose the same records. */
static void tell_labels(const struct recover *k, const char *dst)
{
	unsigned long long from = k->lost.run[0].first;
	bool moved = k->kept.run[k->kept.runs - 1].end > from;
	char *text = NULL, then[64];
	size_t len = 0;
	FILE *f;

	snprintf(then, sizeof(then),
		 moved ? "ids from %llu on have moved"
		       : "it ends before record %llu",
		 from);
	f = open_memstream(&text, &len);
	if (f)
		idset_print(&k->kept, f);
	if (f && !fclose(f) && len <= SELECTION_SHOWN)
		cli_fail("%s: %s; labels stay in step after 'zrecord recode "
			 "--select %s LABELS NEW'",
			 dst, then, text);
	else
		cli_fail("%s: %s; labels stay in step after 'zrecord recode "
			 "--select @FILE LABELS NEW', FILE having what --json "
			 "tells as \"kept\"",
			 dst, then);
	free(text);
}

static void tell_lost(const struct recover *k, const char *src, const char *dst)
{
	cli_error(&k->first);
	if (k->last.code)
		cli_error(&k->last);
	if (k->lost.count > 1)
		cli_fail("%s: %llu records are lost, the first %llu, the last "
			 "%llu; --json lists them",
			 src, (unsigned long long)k->lost.count,
			 (unsigned long long)k->lost.run[0].first,
			 (unsigned long long)k->lost.run[k->lost.runs - 1].end -
				 1);
	tell_labels(k, dst);
}

static void tell(const struct recover *k, const char *src, const char *dst,
		 bool json)
{
	if (k->lost.count)
		tell_lost(k, src, dst);
	else
		tell_why(k, src);
	if (!json) {
		printf("%s: %llu records whole, %llu not%s\n", dst,
		       (unsigned long long)k->kept.count,
		       (unsigned long long)k->lost.count,
		       k->lost.count || k->why.code ? ""
		       : zr_info(k->c)->checksums   ? "; the source is good"
						    : "; the source can be read");
		return;
	}
	printf("{\"path\": ");
	json_path(dst);
	printf(", \"records\": %llu, \"lost_records\": %llu, \"kept\": \"",
	       (unsigned long long)k->kept.count,
	       (unsigned long long)k->lost.count);
	idset_print(&k->kept, stdout);
	printf("\", \"lost\": \"");
	idset_print(&k->lost, stdout);
	printf("\"}\n");
}

static int make(struct recover *k, const char *src, const char *dst,
		const struct zr_create_options *opt)
{
	const struct zr_info *info = zr_info(k->c);
	int status = output_create(
		&k->w, dst, info->kind, &info->dtype,
		info->kind == ZR_DENSE ? &info->item_shape : NULL, opt);

	if (status)
		return status;
	status = recover_all(k, dst);
	ask_reader(k, src);
	if (!status)
		status = lose_entries(k, src);
	if (!status && !k->kept.count && k->lost.count)
		status = cli_fail("%s; no record of it is whole",
				  k->first.message);
	else if (!status && !k->kept.count && k->why.code)
		status = cli_fail("%s: no record of it is whole", src);
	if (!status)
		return output_publish(k->w, dst);
	output_abandon(k->w);
	return status;
}

static int recover(const char *src, const char *dst, bool json)
{
	struct zr_create_options opt = ZR_CREATE_OPTIONS_INIT;
	struct zr_container *c = cli_open(src, ZR_OPEN_RECOVER);
	struct recover k = { .c = c };
	unsigned char *dict = NULL;
	int status = CLI_OK;

	if (!c)
		return CLI_FAILED;
	opt.codec = zr_info(c)->codec;
	if (zr_executor_new(&opt.executor, 0) || zr_reader_new(&k.r, c, NULL))
		status = cli_fail("no memory");
	if (!status && opt.codec == ZR_ZSTD_DICT)
		status = read_dict(src, &dict, &opt.dict_bytes);
	opt.dict = dict;
	stop_catch();
	if (!status)
		status = make(&k, src, dst, &opt);
	if (!status)
		tell(&k, src, dst, json);
	idset_free(&k.kept);
	idset_free(&k.lost);
	free(dict);
	free(k.buf);
	zr_reader_free(k.r);
	zr_executor_free(opt.executor);
	zr_close(c);
	return status;
}

static int run(const struct command *cmd, int argc, char **argv)
{
	bool json = false;
	const struct option_row rows[] = {
		{ "json", &json, NULL },
		{ "q", &cli_quiet, NULL },
		{ "quiet", &cli_quiet, NULL },
		{ "no-checksums", &cli_no_checksums, NULL },
		{ NULL, NULL, NULL },
	};
	int status = options_take(cmd, rows, argc, argv);

	if (status >= 0)
		return status;
	if (argc - optind != 2)
		return cli_usage(cmd, "expected a container and a destination");
	status = options_order(cmd, false, argc, argv);
	if (status >= 0)
		return status;
	return cli_flush(recover(argv[optind], argv[optind + 1], json));
}

const struct command cmd_recover = {
	"recover",
	"[--json] [-q] [--no-checksums] SRC DST",
	"Make the container DST of the records of SRC that are whole, in "
	"their\n"
	"order: of a build that was never finished (a create that was killed\n"
	"leaves .DST.XXXXXX.zrtmp beside DST), or of a container that is "
	"damaged\n"
	"or cut. A record is whole if it has its checksum; without check.zr, "
	"a\n"
	"compressed one if it decodes, and of a raw one only its length can "
	"be\n"
	"told. DST must not exist. The exit status is 0 if DST was made, also "
	"if\n"
	"records were lost: the first and the last are told, and how many. "
	"What\n"
	"follows a lost record has another id in DST; 'zrecord recode "
	"--select'\n"
	"makes a container of labels that has lost the same ones.\n\n"
	"  --json     the summary as a JSON object; \"kept\" and \"lost\" are\n"
	"             SELECTIONs of SRC\n"
	"  -q, --quiet      no progress bar\n"
	"  --no-checksums   do not compare with check.zr\n",
	run,
};
