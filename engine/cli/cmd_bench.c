/* SPDX-License-Identifier: BSD-2-Clause
 * zrecord bench: how fast a container is read in random batches here. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/options.h"
#include "common/progress.h"
#include "common/stop.h"

#define BATCHES 16
#define CELL_SECONDS 0.3
#define WARM_SECONDS 5.0
/* Batches that nobody asked for stay below this, so that a cell stays short. */
#define DEFAULT_BYTES ((uint64_t)256 << 20)

struct bench {
	const struct zr_container *c;
	const struct zr_info *info;
	const char *path;
	uint64_t record_bytes; /* the mean of a Ragged container */
	size_t batch[BATCHES], batches;
	struct zr_reader *r; /* of the executor that is measured */
	uint64_t *ids;       /* room for the largest batch, as dst */
	unsigned char *dst;
	size_t dst_size;
	struct zr_ragged ragged;
	uint64_t random;
	bool json, warm;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* splitmix64. */
static uint64_t random_below(uint64_t *state, uint64_t n)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	z ^= z >> 31;
	return (uint64_t)((double)(z >> 11) * 0x1p-53 * (double)n);
}

/* Gather the first `count` of b->ids; their bytes are added to *bytes. */
static int gather(struct bench *b, size_t count, uint64_t *bytes)
{
	struct zr_error err;
	int rc;

	if (b->info->kind == ZR_DENSE) {
		rc = zr_gather_dense(b->r, b->ids, count, b->dst, b->dst_size,
				     &err);
		*bytes += count * b->record_bytes;
	} else {
		rc = zr_gather_ragged(b->r, b->ids, count, &b->ragged, &err);
		*bytes += rc ? 0 : b->ragged.offsets[count];
	}
	return rc ? cli_error(&err) : CLI_OK;
}

static int gather_random(struct bench *b, size_t count, uint64_t *bytes)
{
	for (size_t i = 0; i < count; i++)
		b->ids[i] = random_below(&b->random, b->info->records);
	return gather(b, count, bytes);
}

/* Read all records in turn, for some seconds at most, so that what is measured
 * afterwards is not the disk. */
static int warm(struct bench *b, size_t most)
{
	uint64_t done = 0, bytes = 0, records = b->info->records;
	double start = now(), t = 0;
	struct progress bar;
	int status = CLI_OK;

	progress_start(&bar, b->path, "records", records);
	while (done < records && t < WARM_SECONDS && !status) {
		size_t n =
			records - done < most ? (size_t)(records - done) : most;

		for (size_t i = 0; i < n; i++)
			b->ids[i] = done + i;
		status = gather(b, n, &bytes);
		done += n;
		t = now() - start;
		progress_at(&bar, done);
	}
	progress_end(&bar);
	b->warm = done == records;
	if (status || b->json)
		return status;
	if (b->warm)
		printf("all records were read once before, in %.1f s\n\n", t);
	else
		printf("%.0f%% of the records were read before, in %.1f s; the "
		       "others may come from disk\n\n",
		       100 * (double)done / (double)records, t);
	return CLI_OK;
}

static void print_cell(const struct bench *b, unsigned threads, size_t batch,
		       double mib_s, double records_s)
{
	if (b->json)
		printf("{\"threads\": %u, \"batch\": %zu, \"mib_s\": %.1f, "
		       "\"records_s\": %.0f, \"checksums\": %s, "
		       "\"warm\": %s}\n",
		       threads, batch, mib_s, records_s,
		       b->info->checksums ? "true" : "false",
		       b->warm ? "true" : "false");
	else
		printf("%7u %8zu %12.1f %14.0f\n", threads, batch, mib_s,
		       records_s);
	fflush(stdout);
}

static int measure(struct bench *b, unsigned threads, size_t batch)
{
	uint64_t bytes = 0, records = 0, burst = 1;
	double start, t, last;
	/* The first batch starts the threads and is not measured. */
	int status = gather_random(b, batch, &bytes);

	bytes = 0;
	start = now();
	last = t = 0;
	while (!status && t < CELL_SECONDS) {
		for (uint64_t i = 0; i < burst && !status; i++)
			status = gather_random(b, batch, &bytes);
		records += burst * batch;
		t = now() - start;
		/* A look at the clock must cost nothing. */
		if (t - last < 0.001)
			burst *= 2;
		last = t;
	}
	if (!status)
		print_cell(b, threads, batch, (double)bytes / t / 1048576,
			   (double)records / t);
	return status;
}

/* All batches on one number of threads; before the first, the warming. */
static int measure_on(struct bench *b, unsigned threads, size_t warm_batch)
{
	struct zr_executor *ex;
	int status = CLI_OK;

	if (zr_executor_new(&ex, threads))
		return cli_fail("no memory");
	if (zr_reader_new(&b->r, b->c, ex)) {
		zr_executor_free(ex);
		return cli_fail("no memory");
	}
	if (warm_batch)
		status = warm(b, warm_batch);
	for (size_t i = 0; i < b->batches && !warm_batch && !status; i++)
		status = measure(b, threads, b->batch[i]);
	zr_reader_free(b->r);
	zr_executor_free(ex);
	return status;
}

/* Those of the usual sizes that the container has records for. */
static void usual_batches(struct bench *b)
{
	static const size_t usual[] = { 1, 32, 256, 1024 };

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (!i || (usual[i] <= b->info->records &&
			   usual[i] * b->record_bytes <= DEFAULT_BYTES))
			b->batch[b->batches++] = usual[i];
}

static int buffers(struct bench *b, size_t most)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) *
			  (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t bytes;

	if (__builtin_mul_overflow(b->record_bytes, most, &bytes) ||
	    bytes > memory / 2)
		return cli_fail("%s: a batch of %zu records is more than half "
				"of the memory",
				b->path, most);
	b->ids = malloc(most * sizeof(*b->ids));
	if (b->info->kind == ZR_DENSE) {
		b->dst_size = (size_t)bytes;
		b->dst = malloc(b->dst_size);
	}
	if (!b->ids || (b->dst_size && !b->dst))
		return cli_fail("no memory for a batch of %zu records", most);
	return CLI_OK;
}

static void print_head(const struct bench *b)
{
	const struct zr_info *info = b->info;

	printf("%s: %llu records, %s, %s, %s%s each; checksums %s\n", b->path,
	       (unsigned long long)info->records,
	       info->kind == ZR_DENSE ? "dense" : "ragged",
	       zr_codec_name(info->codec),
	       info->kind == ZR_DENSE ? "" : "on average ",
	       cli_size(b->record_bytes),
	       info->checksums ? "compared" : "not compared");
}

static int bench(struct bench *b, unsigned threads)
{
	size_t most = 0;
	int status;

	b->info = zr_info(b->c);
	if (!b->info->records)
		return cli_fail("%s: there are no records to read", b->path);
	b->record_bytes = zr_logical_bytes(b->c) / b->info->records;
	if (!b->batches)
		usual_batches(b);
	for (size_t i = 0; i < b->batches; i++)
		most = b->batch[i] > most ? b->batch[i] : most;
	status = buffers(b, most);
	if (status)
		return status;
	if (!b->json)
		print_head(b);
	fflush(stdout);
	status = measure_on(b, threads, most);
	if (!status && !b->json)
		puts("threads    batch        MiB/s      records/s");
	for (unsigned n = 1; !status; n = 2 * n < threads ? 2 * n : threads) {
		status = measure_on(b, n, 0);
		if (n == threads)
			break;
	}
	return status;
}

static bool parse_batches(struct bench *b, const char *list)
{
	for (b->batches = 0; b->batches < BATCHES; list++) {
		size_t len = strcspn(list, ",");
		char word[24] = "";
		uint64_t n;

		if (len < sizeof(word))
			memcpy(word, list, len);
		if (!cli_number(word, 1, 1 << 24, &n))
			return false;
		b->batch[b->batches++] = (size_t)n;
		list += len;
		if (!*list)
			return true;
	}
	return false;
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct bench b = { .random = 1 };
	const char *on = NULL, *batches = NULL;
	const struct option_row rows[] = {
		{ "j", NULL, &on },
		{ "batch", NULL, &batches },
		{ "json", &b.json, NULL },
		{ "q", &cli_quiet, NULL },
		{ "quiet", &cli_quiet, NULL },
		{ "no-checksums", &cli_no_checksums, NULL },
		{ NULL, NULL, NULL },
	};
	struct zr_container *c;
	struct zr_executor *ex;
	unsigned threads = 0;
	int status = options_take(cmd, rows, argc, argv);

	if (status < 0)
		status = options_threads(cmd, on, &threads);
	if (status >= 0)
		return status;
	if (batches && !parse_batches(&b, batches))
		return cli_usage(cmd, "--batch takes up to %d numbers, "
				      "as 1,32,256, not '%s'",
				 BATCHES, batches);
	if (argc - optind != 1)
		return cli_usage(cmd, "expected one container");
	/* Asked for the number of CPUs. */
	if (zr_executor_new(&ex, threads))
		return cli_fail("no memory");
	threads = zr_executor_threads(ex);
	zr_executor_free(ex);
	stop_catch();
	b.path = argv[optind];
	b.c = c = cli_open(b.path, 0);
	if (!c)
		return CLI_FAILED;
	status = bench(&b, threads);
	free(b.ids);
	free(b.dst);
	zr_ragged_free(&b.ragged);
	zr_close(c);
	return cli_flush(status);
}

const struct command cmd_bench = {
	"bench",
	"[-j N] [--batch LIST] [--json] CONTAINER",
	"Measure how fast batches of random records are gathered from "
	"CONTAINER, by\n"
	"size of the batch and number of threads that share each batch. Before "
	"that\n"
	"every record is read once, for 5 s at most, so that data which fits "
	"is in\n"
	"memory. Takes some seconds.\n\n"
	"  -j N           1, 2, 4 ... N threads (default: all CPUs)\n"
	"  --batch LIST   sizes of batches, in records (default: those of\n"
	"                 1,32,256,1024 that fit)\n"
	"  --json         one JSON object a line for each measurement\n"
	"  -q, --quiet      no progress bar\n"
	"  --no-checksums   do not compare with check.zr, as programs that do "
	"not\n"
	"                 ask for it\n",
	run,
};
