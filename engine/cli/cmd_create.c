/* SPDX-License-Identifier: BSD-2-Clause
 * zrecord create and recode: a container from arrays, lines or a container. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/options.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/stop.h"
#include "source/describe.h"
#include "source/training.h"

#define INSTEAD "give one with --dict, or use --codec zstd"
#define DICT_MAX ((uint64_t)1 << 31)

struct create {
	struct zr_create_options opt;
	const char *dict_path, *lines, *select;
	const struct tier *tier;
	unsigned threads;
	bool ragged, skip_empty;
	unsigned char *dict;
	struct source src;
	struct samples ahead; /* records read before the container exists */
	struct batch batch;
};

static bool parse_codec(const char *name, enum zr_codec *out)
{
	const char *one;

	for (int i = 0; (one = zr_codec_name((enum zr_codec)i)); i++) {
		if (!strcmp(one, name)) {
			*out = (enum zr_codec)i;
			return true;
		}
	}
	return false;
}

static bool parse_level(const char *text, int *out)
{
	bool minus = *text == '-';
	uint64_t v;

	/* What libzstd takes; 0 would mean its default, which is ours. */
	if (!cli_number(text + minus, 1, minus ? 131072 : 22, &v))
		return false;
	*out = minus ? -(int)v : (int)v;
	return true;
}

static int make_dict(struct create *k)
{
	struct samples s = { 0 };
	int status;

	if (k->opt.codec != ZR_ZSTD_DICT)
		return CLI_OK;
	if (k->dict_path) {
		status = cli_read_file(k->dict_path, DICT_MAX, &k->dict,
				       &k->opt.dict_bytes);
	} else if (!k->src.rewinds) {
		/* Trained on, then appended first: append_ahead. */
		status = samples_take_first(&k->ahead, &k->src, k->tier);
		if (!status)
			status = samples_train(&k->ahead, k->tier, INSTEAD,
					       &k->dict, &k->opt.dict_bytes);
	} else {
		status = samples_take(&s, &k->src, k->tier);
		if (!status)
			status = samples_train(&s, k->tier, INSTEAD, &k->dict,
					       &k->opt.dict_bytes);
		samples_free(&s);
	}
	k->opt.dict = k->dict;
	return status;
}

static int append(struct create *k, struct zr_writer *w)
{
	struct zr_error err;
	int rc;

	if (k->src.kind == ZR_DENSE)
		rc = zr_append_dense(w, k->batch.items, k->batch.count, &err);
	else
		rc = zr_append_ragged(w, &k->batch.ragged, &err);
	return rc ? cli_error(&err) : CLI_OK;
}

/* Records that were read ahead all have one shape. */
static int append_ahead(struct create *k, struct zr_writer *w)
{
	struct zr_error err;
	struct zr_ragged one = { 0 };
	uint64_t offsets[2] = { 0, 0 }, dim_offsets[2] = { 0, 0 };
	size_t at = 0;

	if (!k->ahead.count)
		return CLI_OK;
	if (k->src.kind == ZR_DENSE)
		return zr_append_dense(w, k->ahead.data, k->ahead.count, &err)
			       ? cli_error(&err)
			       : CLI_OK;
	one.count = 1;
	one.offsets = offsets;
	one.dims = k->src.item_shape.dims;
	one.dim_offsets = dim_offsets;
	dim_offsets[1] = k->src.item_shape.rank;
	for (size_t i = 0; i < k->ahead.count; i++) {
		one.values = k->ahead.data + at;
		offsets[1] = k->ahead.sizes[i];
		at += k->ahead.sizes[i];
		if (zr_append_ragged(w, &one, &err))
			return cli_error(&err);
	}
	return CLI_OK;
}

static int append_all(struct create *k, struct zr_writer *w, const char *dst)
{
	uint64_t done = k->ahead.count;
	struct progress bar;
	int status = append_ahead(k, w);

	progress_start(&bar, dst, "records",
		       k->src.records == ZR_NONE ? 0 : k->src.records);
	while (!status) {
		status = source_next(&k->src, &k->batch);
		if (status || !k->batch.count)
			break;
		status = append(k, w);
		done += k->batch.count;
		progress_at(&bar, done);
	}
	progress_end(&bar);
	if (!status && k->src.records != ZR_NONE && done != k->src.records)
		status = cli_fail("%s: the source had %llu records at first, "
				  "then %llu",
				  dst, (unsigned long long)k->src.records,
				  (unsigned long long)done);
	return status;
}

static int write_container(struct create *k, const char *dst)
{
	bool dense = k->src.kind == ZR_DENSE;
	struct zr_writer *w;
	int status = output_create(&w, dst, k->src.kind, &k->src.dtype,
				   dense ? &k->src.item_shape : NULL, &k->opt);

	if (status)
		return status;
	status = append_all(k, w, dst);
	if (!status)
		return output_publish(w, dst);
	output_abandon(w);
	return status;
}

static int create(const struct command *cmd, struct create *k, const char *dst,
		  char **src, size_t count)
{
	struct progress bar;
	struct stat st;
	int status;

	/* zr_create says so as well, but only after training. */
	if (!lstat(dst, &st))
		return cli_fail("%s: exists already; remove it, or choose another "
				"destination",
				dst);
	stop_catch();
	progress_busy(&bar, src[0], "reading");
	status = source_open(&k->src, src, count, k->ragged, k->lines != NULL,
			     k->skip_empty);
	progress_end(&bar);
	if (!status && k->select)
		status = source_select(&k->src, cmd, src[0], k->select);
	if (!status && zr_executor_new(&k->opt.executor, k->threads))
		status = cli_fail("no memory");
	if (!status)
		status = make_dict(k);
	if (!status)
		status = write_container(k, dst);
	if (!status)
		describe_made(dst, &k->src);
	zr_executor_free(k->opt.executor);
	batch_free(&k->batch);
	samples_free(&k->ahead);
	source_close(&k->src);
	free(k->dict);
	return status;
}

/* What was typed for an option; NULL if it was not given. */
struct typed {
	const char *codec, *level, *tier, *on;
};

static int take_values(const struct command *cmd, struct create *k,
		       const struct typed *t)
{
	if (t->codec && !parse_codec(t->codec, &k->opt.codec))
		return cli_usage(cmd,
				 "--codec takes raw, zstd or zstd_dict, not "
				 "'%s'",
				 t->codec);
	if (t->level && !parse_level(t->level, &k->opt.level))
		return cli_usage(cmd,
				 "--level takes 1 to 22, or -1 to -131072, not "
				 "'%s'",
				 t->level);
	k->tier = tier_find(t->tier);
	if (!k->tier)
		return cli_usage(cmd,
				 "--tier takes fast, balanced or max, not '%s'",
				 t->tier);
	return options_threads(cmd, t->on, &k->threads);
}

/* Some options need others, and some exclude others. */
static int consistent(const struct command *cmd, struct create *k,
		      const struct typed *t)
{
	bool dict = k->dict_path || t->tier;

	if (k->skip_empty && !k->lines)
		return cli_usage(cmd, "--skip-empty goes with --lines");
	if (k->dict_path && t->tier)
		return cli_usage(cmd, "--dict and --tier exclude each other");
	if (dict && !t->codec)
		k->opt.codec = ZR_ZSTD_DICT;
	if (dict && k->opt.codec != ZR_ZSTD_DICT)
		return cli_usage(cmd, "a dictionary needs --codec zstd_dict");
	if (t->level && k->opt.codec == ZR_RAW && !t->codec)
		k->opt.codec = ZR_ZSTD;
	if (t->level && k->opt.codec == ZR_RAW)
		return cli_usage(cmd, "--level needs --codec zstd or "
				      "zstd_dict");
	return -1;
}

/* The options of both commands. As options_take. */
static int parse(const struct command *cmd, struct create *k, bool recode,
		 int argc, char **argv)
{
	struct typed t = { NULL };
	const struct option_row rows[] = {
		{ "lines", NULL, &k->lines },
		{ "skip-empty", &k->skip_empty, NULL },
		{ "codec", NULL, &t.codec },
		{ "level", NULL, &t.level },
		{ "dict", NULL, &k->dict_path },
		{ "tier", NULL, &t.tier },
		{ "ragged", &k->ragged, NULL },
		/* Of the new one; the source is compared. */
		{ "no-checksums", &k->opt.no_checksums, NULL },
		{ "j", NULL, &t.on },
		{ "q", &cli_quiet, NULL },
		{ "quiet", &cli_quiet, NULL },
		{ recode ? "select" : NULL, NULL, &k->select },
		{ NULL, NULL, NULL },
	};
	int status = options_take(cmd, recode ? rows + 2 : rows, argc, argv);

	if (status < 0)
		status = take_values(cmd, k, &t);
	if (status < 0)
		status = consistent(cmd, k, &t);
	return status;
}

/* Of --lines FILE DST. */
static int create_lines(const struct command *cmd, struct create *k, int argc,
			char **argv)
{
	char *lines;
	int status;

	if (argc != 1)
		return cli_usage(cmd, "--lines FILE and a destination, nothing "
				      "else");
	status = options_value_order(cmd, "--lines", argv[0], k->lines, argv[0]);
	if (status >= 0)
		return status;
	lines = strdup(k->lines);
	status = lines ? create(cmd, k, argv[0], &lines, 1) : cli_fail("no memory");
	free(lines);
	return status;
}

static int run_create(const struct command *cmd, int argc, char **argv)
{
	struct create k = { .opt = ZR_CREATE_OPTIONS_INIT };
	int status = parse(cmd, &k, false, argc, argv);

	if (status >= 0)
		return status;
	if (k.lines)
		return create_lines(cmd, &k, argc - optind, argv + optind);
	if (argc - optind < 2)
		return cli_usage(cmd, "expected a destination and sources");
	status = options_order(cmd, true, argc, argv);
	if (status >= 0)
		return status;
	return create(cmd, &k, argv[optind], argv + optind + 1,
		      (size_t)(argc - optind - 1));
}

static int run_recode(const struct command *cmd, int argc, char **argv)
{
	struct create k = { .opt = ZR_CREATE_OPTIONS_INIT };
	struct zr_container *c;
	int status = parse(cmd, &k, true, argc, argv);

	if (status >= 0)
		return status;
	if (argc - optind != 2)
		return cli_usage(cmd, "expected a container and a destination");
	status = options_order(cmd, false, argc, argv);
	if (status >= 0)
		return status;
	c = cli_open(argv[optind], 0);
	if (!c)
		return CLI_FAILED;
	zr_close(c);
	return create(cmd, &k, argv[optind + 1], argv + optind, 1);
}

#define CODEC_HELP                                                             \
	"  --codec C     raw (default: reads fastest), zstd, or zstd_dict "    \
	"(small\n"                                                             \
	"                records that are alike)\n"                            \
	"  --level N     of zstd, 1 to 22 or -1 to -131072; default 3, with "  \
	"a\n"                                                                  \
	"                dictionary 7, or 12 if it is under 256 KiB. "         \
	"Without\n"                                                            \
	"                --codec: zstd\n"                                      \
	"  --dict FILE   the dictionary for zstd_dict, as 'zrecord train' "    \
	"makes\n"                                                              \
	"                it; else one is trained on the records. Without\n"    \
	"                --codec: zstd_dict, as for --tier\n"                  \
	"  --tier T      how large a dictionary to train: fast (32 KiB),\n"    \
	"                balanced (512 KiB, default), max (2 MiB), and at\n"   \
	"                most 1/64 of the records\n"                           \
	"  --no-checksums   leave out check.zr, the hash of each record\n"     \
	"  --ragged      Ragged also if all records have one shape\n"          \
	"  -j N          on N threads (default: all CPUs)\n"                  \
	"  -q, --quiet   no progress, and no line about what was made\n"

const struct command cmd_create = {
	"create",
	"[OPTION]... DST SRC...  |  [OPTION]... --lines FILE DST",
	"Make the container DST, which must not exist; it appears whole or "
	"not\n"
	"at all. SRC is\n\n"
	"  A.npy [B.npy...]  arrays; the records lie along axis 0\n"
	"  DIR               a directory of .npy files, a record each, in "
	"byte\n"
	"                    order of their names; what else is there is left "
	"out\n"
	"  C                 a container\n"
	"  A.npz             one array: as .npy; several: a record each\n"
	"  -                 a .npy file on standard input\n\n"
	"  --lines FILE  a text file (- for standard input) instead of SRC: "
	"each\n"
	"                line a |u1 record\n"
	"  --skip-empty  leave empty lines out, which cannot be "
	"stored\n" CODEC_HELP,
	run_create,
};

const struct command cmd_recode = {
	"recode",
	"[OPTION]... SRC DST",
	"Copy the container SRC to DST with another codec. DST must not exist; "
	"it\n"
	"appears whole or not at all.\n\n"
	"  --select S    only these records, in this order, as for 'zrecord "
	"cat'\n" CODEC_HELP,
	run_recode,
};
