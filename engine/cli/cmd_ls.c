/* SPDX-License-Identifier: BSD-2-Clause
 * zrecord ls: the records of a container, a line each. */

#include "common/each.h"
#include "common/options.h"

#define IDS 1024

static int digits_of(uint64_t v)
{
	int n = 1;

	for (; v >= 10; v /= 10)
		n++;
	return n;
}

/* A bad record is told on stderr and marked; the others go on. */
static int list_long(struct zr_reader *r, uint64_t id, int width)
{
	struct zr_shape shape;
	struct zr_error err;
	uint64_t bytes;

	printf("%*llu  ", width, (unsigned long long)id);
	if (zr_record_shape(r, id, &shape, &bytes, &err)) {
		puts("damaged");
		return cli_error(&err);
	}
	printf("%10llu  (", (unsigned long long)bytes);
	for (uint32_t i = 0; i < shape.rank; i++)
		printf("%s%llu", i ? ", " : "",
		       (unsigned long long)shape.dims[i]);
	printf("%s)\n", shape.rank == 1 ? "," : "");
	return CLI_OK;
}

static int list(const struct zr_container *c, const struct zr_selection *sel,
		bool longer)
{
	int width = digits_of(zr_info(c)->records), status = CLI_OK;
	struct zr_reader *r;
	uint64_t ids[IDS];

	if (zr_reader_new(&r, c, NULL))
		return cli_fail("no memory");
	for (uint64_t at = 0; at < sel->count; at += IDS) {
		size_t n = zr_selection_ids(sel, at, IDS, ids);

		for (size_t i = 0; i < n; i++) {
			if (!longer)
				printf("%llu\n", (unsigned long long)ids[i]);
			else if (list_long(r, ids[i], width))
				status = CLI_FAILED;
		}
	}
	zr_reader_free(r);
	return status;
}

static int run(const struct command *cmd, int argc, char **argv)
{
	bool longer = false;
	const struct option_row rows[] = {
		{ "l", &longer, NULL },
		{ "no-checksums", &cli_no_checksums, NULL },
		{ NULL, NULL, NULL },
	};
	struct zr_selection sel;
	struct zr_container *c;
	int status = options_take(cmd, rows, argc, argv);

	if (status >= 0)
		return status;
	if (argc - optind < 1 || argc - optind > 2)
		return cli_usage(cmd, "expected a container and perhaps a "
				      "selection");
	c = cli_open(argv[optind], 0);
	if (!c)
		return CLI_FAILED;
	status = each_parse(cmd, c, argv[optind],
			    argc - optind == 2 ? argv[optind + 1] : ":", &sel);
	if (!status) {
		status = list(c, &sel, longer);
		zr_selection_free(&sel);
	}
	zr_close(c);
	return cli_flush(status);
}

const struct command cmd_ls = {
	"ls",
	"[-l] CONTAINER [SELECTION]",
	"List records, one id a line.\n\n"
	"  -l   also the bytes and the shape of each\n"
	"  --no-checksums   do as if there were no check.zr\n",
	run,
};
