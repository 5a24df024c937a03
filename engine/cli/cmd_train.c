/* SPDX-License-Identifier: BSD-2-Clause
 * zrecord train: a dictionary from sources, for create --dict. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/options.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/stop.h"
#include "source/describe.h"
#include "source/training.h"

static int write_dict(const char *path, const unsigned char *dict, size_t len)
{
	struct output out;
	ssize_t n;

	if (output_start(&out, path, false))
		return CLI_FAILED;
	n = write(out.fd, dict, len);
	if (n == (ssize_t)len)
		return output_commit(&out);
	cli_fail("%s: writing: %s", path, n < 0 ? strerror(errno) : "no room");
	output_discard(&out);
	return CLI_FAILED;
}

static int train(const char *path, char **paths, size_t count,
		 const struct tier *tier)
{
	struct samples s = { 0 };
	unsigned char *dict = NULL;
	struct progress bar;
	struct source src;
	size_t len;
	int status;

	progress_busy(&bar, paths[0], "reading");
	status = source_open(&src, paths, count, false, false, false);
	if (!status)
		status = src.rewinds ? samples_take(&s, &src, tier)
				     : samples_take_first(&s, &src, tier);
	progress_end(&bar);
	if (!status)
		status = samples_train(&s, tier, "give more sources", &dict,
				       &len);
	if (!status)
		status = write_dict(path, dict, len);
	if (!status)
		describe_left_out(&src);
	free(dict);
	samples_free(&s);
	source_close(&src);
	return status;
}

static int run(const struct command *cmd, int argc, char **argv)
{
	const char *path = NULL, *tier_name = NULL;
	const struct option_row rows[] = {
		{ "o", NULL, &path },
		{ "tier", NULL, &tier_name },
		{ "q", &cli_quiet, NULL },
		{ "quiet", &cli_quiet, NULL },
		{ NULL, NULL, NULL },
	};
	const struct tier *tier;
	int status = options_take(cmd, rows, argc, argv);

	if (status >= 0)
		return status;
	tier = tier_find(tier_name);
	if (!tier)
		return cli_usage(cmd,
				 "--tier takes fast, balanced or max, not '%s'",
				 tier_name);
	if (!path)
		return cli_usage(cmd, "-o FILE says where to write it");
	if (optind == argc)
		return cli_usage(cmd, "expected sources");
	if (optind == argc - 1)
		status = options_value_order(cmd, "-o", path, argv[optind],
					     argv[optind]);
	if (status >= 0)
		return status;
	stop_catch();
	return train(path, argv + optind, (size_t)(argc - optind), tier);
}

const struct command cmd_train = {
	"train",
	"[--tier fast|balanced|max] [-q] -o FILE SRC...",
	"Train a dictionary on records, for 'zrecord create --dict'. SRC is "
	"as\n"
	"for 'zrecord create'. FILE must not exist.\n\n"
	"  --tier T   how large: fast (32 KiB), balanced (512 KiB, default), "
	"max\n"
	"             (2 MiB), and at most 1/64 of the records\n"
	"  -q, --quiet   no progress bar\n",
	run,
};
