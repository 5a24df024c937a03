/* SPDX-License-Identifier: BSD-2-Clause
 * Writing the records of one raw container again: by libzrecord, by another
 * store library with loaderx's C functions, and by what bounds both, in one
 * process, in turn.
 *
 *   write LIBSTORE.so CONTAINER DIR CODEC [MIB [ROUNDS [THREADS [LEVEL]]]]
 *
 * CODEC is raw, zstd or zstd_dict; MIB bounds the records that are used. What
 * bounds raw is write(2) of the same bytes to a new file of DIR, with fsync and
 * without; what bounds the others is ZSTD_compress2 of every record with the
 * same parameters, on as many threads, into a buffer. Records are appended in
 * batches of some 16 MiB; a round ends with publication (close, for the
 * other). libzrecord syncs its files, the other does not, so ours is timed
 * with fsync and with an fsync that does nothing. Prints one JSON line:
 * medians over the rounds of MiB/s of logical bytes and, as NAME_best, the best
 * of them, which other work on the machine hides least; and the ratio of
 * logical to stored bytes, with the dictionary. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "bench.h"
#include "zrecord.h"

#define BATCH_BYTES ((size_t)16 << 20)
#define DICT_BYTES ((size_t)512 << 10) /* of the tier balanced of each */
#define PEER_DICT_BYTES ((size_t)128 << 10)
#define SAMPLE_BYTES ((size_t)16 << 20)

static bool no_fsync;

/* Comes before the C library's, also for libzrecord.a. */
int fsync(int fd)
{
	return no_fsync ? 0 : (int)syscall(SYS_fsync, fd);
}

struct peer {
	void *(*executor_create)(uint32_t, int32_t *);
	void *(*store_create)(void *, const char *, size_t, uint8_t,
			      const uint8_t *, size_t, const uint8_t *, size_t,
			      int32_t *);
	int64_t (*dense_append)(void *, const uint8_t *, size_t, size_t);
	int64_t (*ragged_append)(void *, const uint8_t *, size_t,
				 const uint64_t *, size_t);
	int64_t (*build_dict)(const uint8_t *, size_t, const size_t *, size_t,
			      uint8_t *, size_t, int32_t *);
	void (*store_close)(void *);
	void *executor;
	unsigned char *dict;
	size_t dict_bytes;
};

struct bench {
	struct peer peer;
	struct zr_container *c;
	const struct zr_info *info;
	struct zr_executor *ex;
	size_t records;
	struct zr_ragged all; /* Ragged: the records */
	unsigned char *data;  /* the records as they are stored raw */
	size_t bytes;
	uint64_t *at; /* records + 1 places in data */
	size_t *step; /* first records of batches, and the end */
	size_t steps;
	unsigned char schema[4096];
	size_t schema_len;
	enum zr_codec codec;
	int level;
	unsigned threads;
	unsigned char *dict;
	size_t dict_bytes;
	char path[4096];
	const char *dir;
	double ratio; /* of the last contender */
};

static void *room(size_t bytes)
{
	void *p = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("no memory");
	return p;
}

/* ---- The records */

static void load_schema(struct bench *b, const char *container)
{
	char name[4096];
	uint32_t len;
	FILE *f;

	snprintf(name, sizeof(name), "%s/meta.zr", container);
	f = fopen(name, "rb");
	if (!f || fseek(f, 16, SEEK_SET) || fread(&len, 4, 1, f) != 1 ||
	    len > sizeof(b->schema) || fseek(f, 32, SEEK_SET) ||
	    fread(b->schema, 1, len, f) != len)
		die("reading meta.zr");
	b->schema_len = len;
	fclose(f);
}

static void load_dense(struct bench *b, const uint64_t *ids)
{
	size_t width = (size_t)b->info->record_bytes;
	struct zr_reader *r;
	struct zr_error err;

	b->bytes = b->records * width;
	b->data = room(b->bytes);
	if (zr_reader_new(&r, b->c, b->ex))
		die("no memory");
	if (zr_gather_dense(r, ids, b->records, b->data, b->bytes, &err))
		die(err.message);
	zr_reader_free(r);
	for (size_t i = 0; i <= b->records; i++)
		b->at[i] = i * width;
}

static void load_ragged(struct bench *b, const uint64_t *ids)
{
	struct zr_reader *r;
	struct zr_error err;
	size_t at = 0;

	if (zr_reader_new(&r, b->c, b->ex))
		die("no memory");
	if (zr_gather_ragged(r, ids, b->records, &b->all, &err))
		die(err.message);
	zr_reader_free(r);
	b->bytes = (size_t)b->all.offsets[b->records] + b->records +
		   8 * (size_t)b->all.dim_offsets[b->records];
	b->data = room(b->bytes);
	for (size_t i = 0; i < b->records; i++) {
		uint64_t dim = b->all.dim_offsets[i];
		size_t rank = (size_t)(b->all.dim_offsets[i + 1] - dim);
		size_t len =
			(size_t)(b->all.offsets[i + 1] - b->all.offsets[i]);

		b->at[i] = at;
		b->data[at++] = (unsigned char)rank;
		memcpy(b->data + at, b->all.dims + dim, 8 * rank);
		at += 8 * rank;
		memcpy(b->data + at, b->all.values + b->all.offsets[i], len);
		at += len;
	}
	b->at[b->records] = at;
}

static void load(struct bench *b, const char *container, size_t most)
{
	struct zr_error err;
	uint64_t *ids, sum;

	if (zr_open(&b->c, container, NULL, &err))
		die(err.message);
	b->info = zr_info(b->c);
	if (b->info->codec != ZR_RAW)
		die("the container is not raw");
	load_schema(b, container);
	sum = zr_logical_bytes(b->c) / b->info->records;
	b->records = (size_t)b->info->records;
	if (most / sum < b->records)
		b->records = most / sum;
	ids = malloc(8 * b->records);
	b->at = malloc(8 * (b->records + 1));
	b->step = malloc(sizeof(size_t) * (b->records + 2));
	/* Some of everywhere. */
	for (size_t i = 0; i < b->records; i++)
		ids[i] = i * b->info->records / b->records;
	if (b->info->kind == ZR_DENSE)
		load_dense(b, ids);
	else
		load_ragged(b, ids);
	free(ids);
	for (size_t i = 0; i < b->records; i++)
		if (!b->steps ||
		    b->at[i + 1] - b->at[b->step[b->steps - 1]] > BATCH_BYTES)
			b->step[b->steps++] = i;
	b->step[b->steps] = b->records;
}

/* ---- Dictionaries: of the same samples, records at even distances; ours as
 * `zrecord create` sizes it */

static double train(struct bench *b, double *theirs)
{
	size_t n = SAMPLE_BYTES / (b->bytes / b->records + 1) + 1, len = 0;
	size_t *sizes, dict_room = b->bytes / 64;
	unsigned char *samples = room(b->bytes);
	struct zr_error err;
	double start;
	int32_t code = 0;
	int64_t got;

	if (n > b->records)
		n = b->records;
	sizes = malloc(n * sizeof(*sizes));
	for (size_t k = 0; k < n; k++) {
		size_t i = k * b->records / n;
		size_t prefix = b->info->kind == ZR_RAGGED
					? 1 + 8u * b->data[b->at[i]]
					: 0;

		sizes[k] = (size_t)(b->at[i + 1] - b->at[i]) - prefix;
		memcpy(samples + len, b->data + b->at[i] + prefix, sizes[k]);
		len += sizes[k];
	}
	if (dict_room > DICT_BYTES)
		dict_room = DICT_BYTES;
	b->dict = malloc(dict_room);
	b->peer.dict = malloc(PEER_DICT_BYTES);
	start = now();
	if (zr_train(b->dict, dict_room, &b->dict_bytes, samples, sizes, n,
		     &err))
		die(err.message);
	start = now() - start;
	*theirs = now();
	got = b->peer.build_dict(samples, len, sizes, n, b->peer.dict,
				 PEER_DICT_BYTES, &code);
	*theirs = now() - *theirs;
	if (got <= 0)
		die("peer: dictionary");
	b->peer.dict_bytes = (size_t)got;
	free(sizes);
	munmap(samples, b->bytes);
	return start;
}

/* ---- Contenders: each writes all records once, and leaves b->path */

static void stored(struct bench *b, size_t dict_bytes)
{
	char name[4200];
	struct stat st;

	snprintf(name, sizeof(name), "%s/data.zr", b->path);
	if (stat(name, &st))
		die("no data.zr");
	b->ratio =
		(double)b->bytes / (double)((uint64_t)st.st_size + dict_bytes);
}

static struct zr_ragged part_of(const struct zr_ragged *all, size_t first,
				size_t end)
{
	struct zr_ragged part = *all;

	part.count = end - first;
	part.offsets = all->offsets + first;
	part.dim_offsets = all->dim_offsets + first;
	return part;
}

static void ours(struct bench *b)
{
	struct zr_create_options opt = ZR_CREATE_OPTIONS_INIT;
	bool dense = b->info->kind == ZR_DENSE;
	struct zr_writer *w;
	struct zr_error err;
	int rc = 0;

	opt.codec = b->codec;
	opt.level = b->level;
	opt.dict = b->dict;
	opt.dict_bytes = b->dict_bytes;
	opt.executor = b->ex;
	if (zr_create(&w, b->path, b->info->kind, &b->info->dtype,
		      dense ? &b->info->item_shape : NULL, &opt, &err))
		die(err.message);
	for (size_t k = 0; k < b->steps && !rc; k++) {
		size_t first = b->step[k], end = b->step[k + 1];
		struct zr_ragged part;

		if (dense) {
			rc = zr_append_dense(w, b->data + b->at[first],
					     end - first, &err);
		} else {
			part = part_of(&b->all, first, end);
			rc = zr_append_ragged(w, &part, &err);
		}
	}
	if (rc || zr_publish(w, &err))
		die(err.message);
	stored(b, b->dict_bytes);
}

static void ours_no_fsync(struct bench *b)
{
	no_fsync = true;
	ours(b);
	no_fsync = false;
}

static void theirs(struct bench *b)
{
	uint64_t *offsets = malloc(8 * b->records);
	struct peer *p = &b->peer;
	int32_t code = 0;
	void *s = p->store_create(p->executor, b->path, strlen(b->path),
				  (uint8_t)b->codec, p->dict, p->dict_bytes,
				  b->schema, b->schema_len, &code);

	if (!s)
		die("peer: create");
	for (size_t k = 0; k < b->steps; k++) {
		size_t first = b->step[k], end = b->step[k + 1];
		const unsigned char *from = b->data + b->at[first];
		size_t len = (size_t)(b->at[end] - b->at[first]);
		int64_t rc;

		if (b->info->kind == ZR_DENSE) {
			rc = p->dense_append(s, from, len,
					     (size_t)b->info->record_bytes);
		} else {
			for (size_t i = first; i < end; i++)
				offsets[i - first] = b->at[i] - b->at[first];
			rc = p->ragged_append(s, from, len, offsets,
					      end - first);
		}
		if (rc < 0)
			die("peer: append");
	}
	p->store_close(s);
	free(offsets);
	stored(b, p->dict_bytes);
}

static void plain_file(struct bench *b, bool sync)
{
	char name[4200];
	int fd;

	snprintf(name, sizeof(name), "%s/data.zr", b->path);
	if (mkdir(b->path, 0777))
		die("plain: mkdir");
	fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0666);
	if (fd < 0)
		die("plain: open");
	for (size_t k = 0; k < b->steps; k++) {
		size_t at = (size_t)b->at[b->step[k]];
		size_t len = (size_t)b->at[b->step[k + 1]] - at;

		for (ssize_t n; len; at += (size_t)n, len -= (size_t)n)
			if ((n = write(fd, b->data + at, len)) <= 0)
				die("plain: write");
	}
	if (sync && fsync(fd))
		die("plain: fsync");
	close(fd);
}

static void plain(struct bench *b)
{
	plain_file(b, false);
}

static void plain_fsync(struct bench *b)
{
	plain_file(b, true);
}

struct encoding {
	struct bench *b;
	ZSTD_CDict *cdict;
	ZSTD_CCtx **ctx;
	unsigned char **buf;
	size_t widest;
	uint64_t stored;
};

#define SPAN 32 /* records of a task, fewer if they are large */

static void encode_span(void *arg, unsigned lane, size_t task)
{
	struct encoding *e = arg;
	struct bench *b = e->b;
	size_t span = e->widest > 65536 ? 1 : SPAN, i = task * span;
	uint64_t sum = 0;

	for (size_t end = i + span; i < end && i < b->records; i++) {
		size_t n = ZSTD_compress2(e->ctx[lane], e->buf[lane],
					  ZSTD_compressBound(e->widest),
					  b->data + b->at[i],
					  (size_t)(b->at[i + 1] - b->at[i]));

		if (ZSTD_isError(n))
			die(ZSTD_getErrorName(n));
		sum += n;
	}
	__atomic_fetch_add(&e->stored, sum, __ATOMIC_RELAXED);
}

static void codec_only(struct bench *b)
{
	ZSTD_CCtx *ctx[64] = { NULL };
	unsigned char *buf[64] = { NULL };
	struct encoding e = { .b = b, .ctx = ctx, .buf = buf };
	int level = b->level                    ? b->level
		    : !b->dict                  ? 3
		    : b->dict_bytes < 256 << 10 ? 12
						: 7;
	size_t span;

	for (size_t i = 0; i < b->records; i++)
		if (b->at[i + 1] - b->at[i] > e.widest)
			e.widest = (size_t)(b->at[i + 1] - b->at[i]);
	if (b->dict)
		e.cdict = ZSTD_createCDict(b->dict, b->dict_bytes, level);
	for (unsigned k = 0; k < b->threads; k++) {
		ctx[k] = ZSTD_createCCtx();
		buf[k] = malloc(ZSTD_compressBound(e.widest));
		if (e.cdict)
			ZSTD_CCtx_refCDict(ctx[k], e.cdict);
		else
			ZSTD_CCtx_setParameter(ctx[k], ZSTD_c_compressionLevel,
					       level);
	}
	span = e.widest > 65536 ? 1 : SPAN;
	zr_executor_run(b->ex, (b->records + span - 1) / span, encode_span, &e);
	for (unsigned k = 0; k < b->threads; k++) {
		ZSTD_freeCCtx(ctx[k]);
		free(buf[k]);
	}
	ZSTD_freeCDict(e.cdict);
	b->ratio = (double)b->bytes / (double)e.stored;
}

/* ---- Rounds */

struct contender {
	const char *name;
	void (*run)(struct bench *);
	double mib[101];
	double ratio;
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void *need(void *lib, const char *name)
{
	void *p = dlsym(lib, name);

	if (!p)
		die(dlerror());
	return p;
}

static void open_peer(struct bench *b, const char *lib)
{
	struct peer *p = &b->peer;
	/* DEEPBIND: with the libzstd that it carries, not with ours. */
	void *h = dlopen(lib, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	int32_t code = 0;

	if (!h)
		die(dlerror());
	*(void **)&p->executor_create = need(h, "executor_create");
	*(void **)&p->store_create = need(h, "store_create");
	*(void **)&p->dense_append = need(h, "dense_store_append");
	*(void **)&p->ragged_append = need(h, "ragged_store_append");
	*(void **)&p->build_dict = need(h, "store_build_dict");
	*(void **)&p->store_close = need(h, "store_close");
	p->executor = p->executor_create(b->threads, &code);
	if (!p->executor)
		die("peer: executor");
}

static size_t number(int argc, char **argv, int i, size_t otherwise)
{
	return argc > i ? strtoul(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	static struct contender all[] = {
		{ .name = "ours", .run = ours },
		{ .name = "ours_no_fsync", .run = ours_no_fsync },
		{ .name = "loaderx", .run = theirs },
		{ .name = "write", .run = plain },
		{ .name = "write_fsync", .run = plain_fsync },
		{ .name = "libzstd", .run = codec_only },
	};
	size_t count = sizeof(all) / sizeof(all[0]), rounds;
	double trained = 0, their_trained = 0;
	static struct bench b;

	if (argc < 5)
		die("usage: write LIBSTORE.so CONTAINER DIR CODEC [MIB "
		    "[ROUNDS [THREADS [LEVEL]]]]");
	b.dir = argv[3];
	b.codec = !strcmp(argv[4], "raw")    ? ZR_RAW
		  : !strcmp(argv[4], "zstd") ? ZR_ZSTD
					     : ZR_ZSTD_DICT;
	rounds = number(argc, argv, 6, 7);
	if (rounds < 1 || rounds > 101)
		die("1 to 101 rounds");
	if (zr_executor_new(&b.ex, (unsigned)number(argc, argv, 7, 0)))
		die("no memory");
	b.threads = zr_executor_threads(b.ex);
	if (b.threads > 64)
		die("at most 64 threads");
	b.level = argc > 8 ? atoi(argv[8]) : 0;
	snprintf(b.path, sizeof(b.path), "%s/zrwrite.%d", b.dir, getpid());
	load(&b, argv[2], number(argc, argv, 5, 256) << 20);
	open_peer(&b, argv[1]);
	if (b.codec == ZR_ZSTD_DICT)
		trained = train(&b, &their_trained);
	for (size_t i = 0; i <= rounds; i++) {
		for (size_t k = 0; k < count; k++) {
			double start = now();

			if (all[k].run == codec_only
				    ? b.codec == ZR_RAW
				    : !strncmp(all[k].name, "write", 5) &&
					      b.codec != ZR_RAW)
				continue;
			b.ratio = 1;
			all[k].run(&b);
			/* The first round warms up. */
			all[k].mib[i ? i - 1 : 0] =
				(double)b.bytes / (now() - start) / 1048576;
			all[k].ratio = b.ratio;
			remove_container(b.path);
		}
	}
	printf("{\"container\": \"%s\", \"codec\": \"%s\", \"level\": %d, "
	       "\"threads\": %u, \"mib\": %.0f, \"records\": %zu",
	       argv[2], argv[4], b.level, b.threads, (double)b.bytes / 1048576,
	       b.records);
	for (size_t k = 0; k < count; k++) {
		if (!all[k].ratio)
			continue;
		qsort(all[k].mib, rounds, sizeof(double), by_value);
		printf(", \"%s\": %.1f, \"%s_best\": %.1f", all[k].name,
		       all[k].mib[rounds / 2], all[k].name,
		       all[k].mib[rounds - 1]);
		if (b.codec != ZR_RAW)
			printf(", \"%s_ratio\": %.3f", all[k].name,
			       all[k].ratio);
	}
	if (b.codec == ZR_ZSTD_DICT)
		printf(", \"ours_train_s\": %.2f, \"loaderx_train_s\": %.2f",
		       trained, their_trained);
	printf("}\n");
	zr_close(b.c);
	zr_executor_free(b.ex);
	/* loaderx's threads are not waited for: it can crash when it is
	 * taken down. */
	fflush(stdout);
	_exit(0);
}
