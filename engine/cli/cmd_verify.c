/* SPDX-License-Identifier: BSD-2-Clause
 * zrecord verify: every record of containers, read and checked. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/jsonpath.h"
#include "common/options.h"
#include "common/paths.h"
#include "common/progress.h"

#define RUN 256 /* records of a task, at most */

/* A record that is large needs memory of its size while it is checked. All
 * threads together take no more than the budget for those, or one record. */
#define LARGE ((uint64_t)4 << 20)
#define BUDGET ((uint64_t)128 << 20)

struct check {
	const struct zr_container *c;
	struct zr_reader **reader; /* a lane each */
	uint64_t run;              /* records of a task */
	struct progress bar;
	_Atomic uint64_t done;
	pthread_mutex_t lock;
	pthread_cond_t less;
	uint64_t large;             /* under lock: bytes of large records */
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

/* Wait until the budget has room for a large record, or there is no other. */
static void enter_large(struct check *k, uint64_t bytes)
{
	pthread_mutex_lock(&k->lock);
	while (k->large && k->large + bytes > BUDGET)
		pthread_cond_wait(&k->less, &k->lock);
	k->large += bytes;
	pthread_mutex_unlock(&k->lock);
}

static void leave_large(struct check *k, uint64_t bytes)
{
	pthread_mutex_lock(&k->lock);
	k->large -= bytes;
	pthread_cond_broadcast(&k->less);
	pthread_mutex_unlock(&k->lock);
}

static void check_one(struct check *k, struct zr_reader *r, uint64_t id)
{
	uint64_t bytes = zr_record_bound(k->c, id);
	bool large = bytes > LARGE;
	struct zr_error err;
	int rc;

	if (large)
		enter_large(k, bytes);
	rc = zr_check(r, id, &err);
	if (large) {
		zr_reader_trim(r, LARGE);
		leave_large(k, bytes);
	}
	if (rc)
		keep_bad(k, id, &err);
	atomic_fetch_add_explicit(&k->done, 1, memory_order_relaxed);
	if (large || id % RUN == 0)
		progress_at(&k->bar, atomic_load(&k->done));
}

static void check_run(void *ctx, unsigned lane, size_t task)
{
	struct check *k = ctx;
	uint64_t records = zr_info(k->c)->records;
	uint64_t id = (uint64_t)task * k->run;
	uint64_t end = records - id < k->run ? records : id + k->run;

	for (; id < end; id++)
		check_one(k, k->reader[lane], id);
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Runs are the tasks of threads, but a container of few records, which may be
 * large, must be shared as well. */
static uint64_t run_of(uint64_t records, unsigned lanes)
{
	uint64_t run = records / lanes / 4;

	return run < 1 ? 1 : run < RUN ? run : RUN;
}

static int check_all(struct check *k, struct zr_executor *ex, const char *path)
{
	unsigned lanes = zr_executor_threads(ex);
	uint64_t records = zr_info(k->c)->records;
	int status = CLI_OK;

	k->reader = calloc(lanes, sizeof(struct zr_reader *));
	for (unsigned i = 0; k->reader && i < lanes && !status; i++)
		if (zr_reader_new(&k->reader[i], k->c, NULL))
			status = CLI_FAILED;
	if (!k->reader || status)
		status = cli_fail("no memory");
	k->run = run_of(records, lanes);
	progress_start(&k->bar, path, "records", records);
	if (!status && records)
		zr_executor_run(ex, (size_t)((records - 1) / k->run + 1),
				check_run, k);
	progress_end(&k->bar);
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
	printf("]}");
}

static int verify(const char *path, struct zr_executor *ex, bool json)
{
	struct check k = { .lock = PTHREAD_MUTEX_INITIALIZER,
			   .less = PTHREAD_COND_INITIALIZER };
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

/* A container, or all of a folder, which has an entry of its own if it could
 * not be listed to its end. */
static int verify_all(const char *path, struct zr_executor *ex, bool json)
{
	struct paths p = { NULL };
	int listed = CLI_OK, status;
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		listed = paths_add_containers(&p, path);
	status = listed;
	if (json && p.count)
		putchar('[');
	for (size_t i = 0; i < p.count; i++) {
		if (json && i)
			fputs(", ", stdout);
		if (verify(p.path[i], ex, json))
			status = CLI_FAILED;
	}
	if (json && p.count && listed)
		fputs(", ", stdout);
	if (listed)
		print_result(&(struct check){ .c = NULL }, path, json, listed);
	else if (!p.count)
		status = verify(path, ex, json);
	if (json)
		puts(p.count ? "]" : "");
	paths_free(&p);
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
		if (verify_all(argv[i], ex, json))
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
	"The exit status is 0 if all is well. Of a folder of containers each "
	"is\n"
	"read.\n\n"
	"  -j N     on N threads (default: all CPUs)\n"
	"  --json   the summary as one JSON object a line, of a folder as a list\n"
	"  -q, --quiet      no progress bar\n"
	"  --no-checksums   only decode, do not compare with check.zr\n",
	run,
};
