/* SPDX-License-Identifier: BSD-2-Clause
 * What every level of zstd and zstd_dict makes of the records of a raw Dense
 * container.
 *
 *   levels CONTAINER DIR [THREADS [ROUNDS]]
 *
 * Writes the records to new containers in DIR and reads them all again, in
 * random order in batches of 256. Prints a JSON line for each codec and level:
 * the ratio of logical to stored bytes, with the dictionary, and MiB/s of
 * writing (appends and publication without fsync) and of gathers, the best of
 * the rounds. The dictionary is trained once as `zrecord create` does it, and
 * its time is the first line's "train_s". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "zrecord.h"

#define BATCH 256
#define BATCH_BYTES ((size_t)16 << 20)
#define DICT_BYTES ((size_t)512 << 10)
#define SAMPLE_BYTES ((size_t)16 << 20)

struct bench {
	struct zr_executor *ex;
	const struct zr_info *info;
	size_t records, width;
	unsigned char *data;
	unsigned char *dict;
	size_t dict_bytes;
	char path[4096];
};

/* Comes before the C library's, also for libzrecord.a. */
int fsync(int fd)
{
	(void)fd;
	return 0;
}

/* Records in an order that looks random; every one once if `n` is prime to
 * the step. */
static void gather(struct bench *b, struct zr_container *c, unsigned char *dst)
{
	uint64_t ids[BATCH], at = 0;
	struct zr_reader *r;
	struct zr_error err;

	if (zr_reader_new(&r, c, b->ex))
		die("no memory");
	for (size_t i = 0; i < b->records; i += BATCH) {
		size_t n = b->records - i < BATCH ? b->records - i : BATCH;

		for (size_t k = 0; k < n; k++)
			ids[k] = at = (at + 1000003) % b->records;
		if (zr_gather_dense(r, ids, n, dst, n * b->width, &err))
			die(err.message);
	}
	zr_reader_free(r);
}

static double read_again(struct bench *b, double *ratio)
{
	unsigned char *dst = malloc(BATCH * b->width);
	struct zr_container *c;
	struct zr_error err;
	double start;

	if (!dst || zr_open(&c, b->path, NULL, &err))
		die("opening again");
	*ratio = (double)(b->records * b->width) /
		 (double)(zr_info(c)->stored_bytes + b->dict_bytes);
	memset(dst, 0, BATCH * b->width);
	start = now();
	gather(b, c, dst);
	start = now() - start;
	zr_close(c);
	free(dst);
	return start;
}

static double write_all(struct bench *b, enum zr_codec codec, int level)
{
	struct zr_create_options opt = ZR_CREATE_OPTIONS_INIT;
	size_t step = BATCH_BYTES / b->width + 1;
	struct zr_writer *w;
	struct zr_error err;
	double start = now();

	opt.codec = codec;
	opt.level = level;
	opt.executor = b->ex;
	if (codec == ZR_ZSTD_DICT) {
		opt.dict = b->dict;
		opt.dict_bytes = b->dict_bytes;
	}
	if (zr_create(&w, b->path, ZR_DENSE, &b->info->dtype,
		      &b->info->item_shape, &opt, &err))
		die(err.message);
	for (size_t i = 0; i < b->records; i += step) {
		size_t n = b->records - i < step ? b->records - i : step;

		if (zr_append_dense(w, b->data + i * b->width, n, &err))
			die(err.message);
	}
	if (zr_publish(w, &err))
		die(err.message);
	return now() - start;
}

static void train(struct bench *b)
{
	size_t n = SAMPLE_BYTES / b->width + 1, room = DICT_BYTES;
	unsigned char *samples;
	struct zr_error err;
	size_t *sizes;

	if (n > b->records)
		n = b->records;
	if (room > b->records * b->width / 64)
		room = b->records * b->width / 64;
	samples = malloc(n * b->width);
	sizes = malloc(n * sizeof(*sizes));
	b->dict = malloc(room);
	for (size_t k = 0; k < n; k++) {
		sizes[k] = b->width;
		memcpy(samples + k * b->width,
		       b->data + k * b->records / n * b->width, b->width);
	}
	if (zr_train(b->dict, room, &b->dict_bytes, samples, sizes, n, &err))
		die(err.message);
	free(samples);
	free(sizes);
}

static void row(struct bench *b, enum zr_codec codec, int level, size_t rounds,
		double train_s)
{
	double wrote = 1e9, read = 1e9, ratio = 0, t;
	size_t dict_bytes = b->dict_bytes;
	double mib = (double)(b->records * b->width) / 1048576;

	if (codec == ZR_ZSTD)
		b->dict_bytes = 0;
	for (size_t i = 0; i < rounds; i++) {
		t = write_all(b, codec, level);
		wrote = t < wrote ? t : wrote;
		for (int k = 0; k < 3; k++) {
			t = read_again(b, &ratio);
			read = t < read ? t : read;
		}
		remove_container(b->path);
	}
	b->dict_bytes = dict_bytes;
	printf("{\"codec\": \"%s\", \"level\": %d, \"ratio\": %.3f, "
	       "\"write\": %.1f, \"read\": %.1f",
	       codec == ZR_ZSTD ? "zstd" : "zstd_dict", level, ratio,
	       mib / wrote, mib / read);
	if (train_s > 0)
		printf(", \"train_s\": %.2f", train_s);
	printf("}\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const int levels[] = { 0, 1, 3, 6, 9, 12, 15, 19 };
	size_t count = sizeof(levels) / sizeof(levels[0]);
	size_t rounds = argc > 4 ? strtoul(argv[4], NULL, 10) : 2;
	static struct bench b;
	struct zr_container *c;
	struct zr_reader *r;
	struct zr_error err;
	uint64_t *ids;
	double start;

	if (argc < 3)
		die("usage: levels CONTAINER DIR [THREADS [ROUNDS]]");
	if (zr_executor_new(&b.ex, argc > 3 ? (unsigned)atoi(argv[3]) : 0))
		die("no memory");
	if (zr_open(&c, argv[1], NULL, &err) || zr_reader_new(&r, c, b.ex))
		die("opening the container");
	b.info = zr_info(c);
	if (b.info->kind != ZR_DENSE)
		die("the container is not Dense");
	b.records = (size_t)b.info->records;
	b.width = (size_t)b.info->record_bytes;
	b.data = malloc(b.records * b.width);
	ids = malloc(b.records * sizeof(*ids));
	for (size_t i = 0; i < b.records; i++)
		ids[i] = i;
	if (zr_gather_dense(r, ids, b.records, b.data, b.records * b.width,
			    &err))
		die(err.message);
	snprintf(b.path, sizeof(b.path), "%s/zrlevels.%d", argv[2], getpid());
	for (size_t i = 0; i < count; i++)
		row(&b, ZR_ZSTD, levels[i], rounds, 0);
	start = now();
	train(&b);
	start = now() - start;
	for (size_t i = 0; i < count; i++)
		row(&b, ZR_ZSTD_DICT, levels[i], rounds, i ? 0 : start);
	free(ids);
	free(b.data);
	free(b.dict);
	zr_reader_free(r);
	zr_close(c);
	zr_executor_free(b.ex);
	return 0;
}
