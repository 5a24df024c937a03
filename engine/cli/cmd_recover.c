/* SPDX-License-Identifier: BSD-2-Clause
 * zrecord recover: a new container of the records that are whole. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "output.h"
#include "progress.h"

struct recover {
	const struct zr_container *c;
	struct zr_reader *r;
	struct zr_writer *w;
	unsigned char *buf;
	size_t size;
	uint64_t whole, lost;
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

/* An entry that was never written is all zero: not worth a line. */
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
	if (rc == -EBADMSG || rc == -EIO) {
		k->lost++;
		if (zr_info(k->c)->published || need)
			cli_error(&err);
		return CLI_OK;
	}
	if (rc)
		return cli_error(&err);
	k->whole++;
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
		if (output_stopped())
			status = CLI_FAILED;
		progress_at(&bar, id);
	}
	progress_end(&bar);
	return status;
}

static int recover(const char *src, const char *dst)
{
	struct zr_create_options opt = ZR_CREATE_OPTIONS_INIT;
	struct zr_container *c = cli_open(src, ZR_OPEN_RECOVER);
	struct recover k = { .c = c };
	const struct zr_info *info;
	unsigned char *dict = NULL;
	struct zr_error err;
	int status = CLI_OK;

	if (!c)
		return CLI_FAILED;
	info = zr_info(c);
	opt.codec = info->codec;
	if (zr_executor_new(&opt.executor, 0) || zr_reader_new(&k.r, c, NULL))
		status = cli_fail("no memory");
	if (!status && info->codec == ZR_ZSTD_DICT)
		status = read_dict(src, &dict, &opt.dict_bytes);
	opt.dict = dict;
	if (!status &&
	    zr_create(&k.w, dst, info->kind, &info->dtype,
		      info->kind == ZR_DENSE ? &info->item_shape : NULL, &opt,
		      &err))
		status = cli_error(&err);
	if (!status) {
		output_catch_signals();
		status = recover_all(&k, dst);
	}
	if (!status && !k.whole)
		status = cli_fail("%s: no record of it is whole", src);
	if (!status && zr_publish(k.w, &err))
		status = cli_error(&err);
	else if (status)
		zr_discard(k.w);
	if (!status)
		printf("%s: %llu records whole, %llu not\n", dst,
		       (unsigned long long)k.whole, (unsigned long long)k.lost);
	free(dict);
	free(k.buf);
	zr_reader_free(k.r);
	zr_executor_free(opt.executor);
	zr_close(c);
	return status;
}

static int run(const struct command *cmd, int argc, char **argv)
{
	const struct option_row rows[] = {
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
	return cli_flush(recover(argv[optind], argv[optind + 1]));
}

const struct command cmd_recover = {
	"recover",
	"[--no-checksums] SRC DST",
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
	"records were lost; the summary tells.\n\n"
	"  --no-checksums   do not compare with check.zr\n",
	run,
};
