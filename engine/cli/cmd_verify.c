/* SPDX-License-Identifier: BSD-2-Clause
 * zrecord verify: every record of containers, read and checked. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "jsonpath.h"
#include "options.h"
#include "progress.h"

#define RUN 256 /* records of a task */
#define ROUND ((uint64_t)64 * RUN)

struct check {
	const struct zr_container *c;
	struct zr_reader **reader; /* a lane each */
	uint64_t first, end;       /* of this round */
	pthread_mutex_t lock;
	uint64_t *bad;              /* under lock */
	size_t bad_count, bad_room; /* under lock */
	bool no_memory;             /* under lock */
};

static void keep_bad(struct check *k, uint64_t id, const struct zr_error *err)
{
	pthread_mutex_lock(&k->lock);
	cli_error(err);
	if (k->bad_count == k->bad_room) {
		size_t room = k->bad_room ? 2 * k->bad_room : 64;
		uint64_t *p = realloc(k->bad, room * sizeof(*p));

		if (p) {
			k->bad = p;
			k->bad_room = room;
		}
	}
	if (k->bad_count < k->bad_room)
		k->bad[k->bad_count++] = id;
	else
		k->no_memory = true;
	pthread_mutex_unlock(&k->lock);
}

static void check_run(void *ctx, unsigned lane, size_t task)
{
	struct check *k = ctx;
	uint64_t id = k->first + (uint64_t)task * RUN;
	uint64_t end = k->end - id < RUN ? k->end : id + RUN;
	struct zr_error err;

	for (; id < end; id++)
		if (zr_check(k->reader[lane], id, &err))
			keep_bad(k, id, &err);
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* In rounds, so that the progress is seen. */
static int check_all(struct check *k, struct zr_executor *ex, const char *path)
{
	unsigned lanes = zr_executor_threads(ex);
	uint64_t records = zr_info(k->c)->records;
	struct progress bar;
	int status = CLI_OK;

	k->reader = calloc(lanes, sizeof(struct zr_reader *));
	for (unsigned i = 0; k->reader && i < lanes && !status; i++)
		if (zr_reader_new(&k->reader[i], k->c, NULL))
			status = CLI_FAILED;
	if (!k->reader || status)
		status = cli_fail("no memory");
	progress_start(&bar, path, "records", records);
	for (; k->first < records && !status; k->first = k->end) {
		k->end =
			records - k->first < ROUND ? records : k->first + ROUND;
		zr_executor_run(ex, (size_t)((k->end - k->first - 1) / RUN + 1),
				check_run, k);
		progress_at(&bar, k->end);
	}
	progress_end(&bar);
	if (k->bad_count)
		qsort(k->bad, k->bad_count, sizeof(*k->bad), by_id);
	for (unsigned i = 0; k->reader && i < lanes; i++)
		zr_reader_free(k->reader[i]);
	free(k->reader);
	return status || k->bad_count || k->no_memory ? CLI_FAILED : CLI_OK;
}

static void print_result(const struct check *k, const char *path, bool json,
			 int status)
{
	unsigned long long records = k->c ? zr_info(k->c)->records : 0;
	bool sums = k->c && zr_info(k->c)->checksums;

	if (!json) {
		if (k->c)
			printf("%s: %llu records, %zu damaged%s\n", path,
			       records, k->bad_count,
			       sums ? "" : ", no checksums to compare");
		return;
	}
	printf("{\"path\": ");
	json_path(path);
	printf(", \"ok\": %s, \"records\": ", status ? "false" : "true");
	if (k->c)
		printf("%llu", records);
	else
		printf("null");
	printf(", \"checksums\": %s, \"damaged\": [", sums ? "true" : "false");
	for (size_t i = 0; i < k->bad_count; i++)
		printf("%s%llu", i ? ", " : "", (unsigned long long)k->bad[i]);
	printf("]}\n");
}

static int verify(const char *path, struct zr_executor *ex, bool json)
{
	struct check k = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct zr_container *c = cli_open(path, 0);
	int status = CLI_FAILED;

	k.c = c;
	if (c)
		status = check_all(&k, ex, path);
	print_result(&k, path, json, status);
	free(k.bad);
	zr_close(c);
	return status;
}

static int run(const struct command *cmd, int argc, char **argv)
{
	const char *on = NULL;
	bool json = false;
	const struct option_row rows[] = {
		{ "j", NULL, &on },
		{ "json", &json, NULL },
		{ "q", &cli_quiet, NULL },
		{ "quiet", &cli_quiet, NULL },
		{ "no-checksums", &cli_no_checksums, NULL },
		{ NULL, NULL, NULL },
	};
	struct zr_executor *ex;
	unsigned threads = 0;
	int status = options_take(cmd, rows, argc, argv);

	if (status < 0)
		status = options_threads(cmd, on, &threads);
	if (status >= 0)
		return status;
	if (optind == argc)
		return cli_usage(cmd, "expected a container");
	if (zr_executor_new(&ex, threads))
		return cli_fail("no memory");
	status = CLI_OK;
	for (int i = optind; i < argc; i++)
		if (verify(argv[i], ex, json))
			status = CLI_FAILED;
	zr_executor_free(ex);
	return cli_flush(status);
}

const struct command cmd_verify = {
	"verify",
	"[-j N] [--json] CONTAINER...",
	"Read every record of each container and tell which are damaged: a "
	"line\n"
	"each on standard error, a summary on standard output. Without "
	"check.zr,\n"
	"as in containers of loaderx, raw bytes have nothing to be compared "
	"with.\n"
	"The exit status is 0 if all is well.\n\n"
	"  -j N     on N threads (default: all CPUs)\n"
	"  --json   the summary as one JSON object a line\n"
	"  -q, --quiet      no progress bar\n"
	"  --no-checksums   only decode, do not compare with check.zr\n",
	run,
};
