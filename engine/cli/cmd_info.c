/* SPDX-License-Identifier: BSD-2-Clause
 * zrecord info: what a container holds. */
#include "common/options.h"
#include "source/describe.h"

static void print_sizes(const struct zr_container *c, const char *path)
{
	const struct zr_info *info = zr_info(c);
	uint64_t logical = zr_logical_bytes(c);

	printf("size       %s", cli_size(logical));
	printf(", stored in %s", cli_size(info->stored_bytes));
	if (info->stored_bytes)
		printf(" (ratio %.2f)",
		       (double)logical / (double)info->stored_bytes);
	putchar('\n');
	if (info->dict_bytes)
		printf("dictionary %s\n", cli_size(info->dict_bytes));
	printf("files      %s\n", cli_size(describe_bytes(path)));
}

static void print_info(const struct zr_container *c, const char *path)
{
	const struct zr_info *info = zr_info(c);

	printf("kind       %s\ndtype      %s\n",
	       info->kind == ZR_DENSE ? "dense" : "ragged", info->dtype.str);
	if (info->kind == ZR_DENSE) {
		printf("shape      ");
		describe_shape(stdout, &info->item_shape);
		printf(", %s a record\n", cli_size(info->record_bytes));
	}
	printf("codec      %s\nrecords    %llu\n", zr_codec_name(info->codec),
	       (unsigned long long)info->records);
	print_sizes(c, path);
	printf("checksums  %s\n", info->checksums ? "yes" : "no");
	if (!info->published)
		puts("published  no: its writer did not finish; 'zrecord "
		     "recover' saves what is whole");
}

static int print_json(const struct zr_container *c)
{
	char text[8192];
	size_t len;

	if (zr_info_json(c, text, sizeof(text), &len))
		return cli_fail("the description is too long");
	fwrite(text, 1, len, stdout);
	return CLI_OK;
}

static int run(const struct command *cmd, int argc, char **argv)
{
	bool json = false;
	const struct option_row rows[] = {
		{ "json", &json, NULL },
		{ "no-checksums", &cli_no_checksums, NULL },
		{ NULL, NULL, NULL },
	};
	struct zr_container *c;
	int status = options_take(cmd, rows, argc, argv);

	if (status >= 0)
		return status;
	if (argc - optind != 1)
		return cli_usage(cmd, "expected one container");
	c = cli_open(argv[optind], ZR_OPEN_UNPUBLISHED);
	if (!c)
		return CLI_FAILED;
	status = CLI_OK;
	if (json)
		status = print_json(c);
	else
		print_info(c, argv[optind]);
	zr_close(c);
	return status ? status : cli_flush(CLI_OK);
}

const struct command cmd_info = {
	"info",
	"[--json] CONTAINER",
	"Tell what a container holds. One that was never published holds\n"
	"nothing yet; 'zrecord recover' finds what was written.\n\n"
	"  --json   one JSON object\n"
	"  --no-checksums   do as if there were no check.zr\n",
	run,
};
