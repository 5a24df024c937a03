/* SPDX-License-Identifier: BSD-2-Clause
 * Gathers of one container by libzrecord and by another store library with
 * loaderx's C functions, in one process, in turn.
 *
 *   gather LIBSTORE.so CONTAINER [BATCH [ROUNDS [THREADS]]]
 *
 * Prints one JSON line: medians over the rounds of MiB/s and records/s, for
 * each library. Every round gathers batches of random ids for some 0.2 s. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "zrecord.h"

struct peer {
	void *(*executor_create)(uint32_t, int32_t *);
	void *(*store_open)(void *, const char *, size_t, uint8_t *, size_t,
			    size_t *, int32_t *);
	int32_t (*dense_gather)(void *, const uint64_t *, size_t, uint8_t *,
				size_t, size_t);
	int32_t (*lengths)(void *, const uint64_t *, size_t, uint64_t *);
	int32_t (*ragged_gather)(void *, const uint64_t *, size_t, uint8_t *,
				 size_t, const uint64_t *);
	void *store;
};

struct bench {
	struct peer peer;
	struct zr_container *c;
	struct zr_reader *r;
	const struct zr_info *info;
	size_t batch;
	uint64_t *ids;
	uint64_t *lengths, *offsets;
	unsigned char *dst;
	size_t dst_size;
	struct zr_ragged ragged;
	uint64_t seed, bytes, records;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "gather: %s\n", what);
	exit(1);
}

static void draw(struct bench *b)
{
	for (size_t i = 0; i < b->batch; i++) {
		b->seed = b->seed * 6364136223846793005u + 1442695040888963407u;
		b->ids[i] = (b->seed >> 20) % b->info->records;
	}
}

static void ours(struct bench *b)
{
	struct zr_error err;
	int rc;

	if (b->info->kind == ZR_DENSE)
		rc = zr_gather_dense(b->r, b->ids, b->batch, b->dst,
				     b->dst_size, &err);
	else
		rc = zr_gather_ragged(b->r, b->ids, b->batch, &b->ragged,
				      &err);
	if (rc)
		die(err.message);
	b->bytes += b->info->kind == ZR_DENSE
			    ? b->batch * b->info->record_bytes
			    : b->ragged.offsets[b->batch];
}

static void theirs(struct bench *b)
{
	uint64_t total = 0;

	if (b->info->kind == ZR_DENSE) {
		size_t width = (size_t)b->info->record_bytes;

		if (b->peer.dense_gather(b->peer.store, b->ids, b->batch,
					 b->dst, b->batch * width, width))
			die("peer: dense gather");
		b->bytes += b->batch * width;
		return;
	}
	if (b->peer.lengths(b->peer.store, b->ids, b->batch, b->lengths))
		die("peer: lengths");
	for (size_t i = 0; i < b->batch; i++) {
		b->offsets[i] = total;
		total += b->lengths[i];
	}
	if (total > b->dst_size)
		die("peer: batch too large");
	if (b->peer.ragged_gather(b->peer.store, b->ids, b->batch, b->dst,
				  total, b->offsets))
		die("peer: ragged gather");
	b->bytes += total;
}

/* MiB/s of one round; *krec receives thousands of records per second. */
static double round_of(struct bench *b, void (*one)(struct bench *),
		       double *krec)
{
	double start, t;

	b->bytes = b->records = 0;
	start = now();
	do {
		draw(b);
		one(b);
		b->records += b->batch;
		t = now() - start;
	} while (t < 0.2);
	*krec = (double)b->records / t / 1e3;
	return (double)b->bytes / t / 1048576;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

static void *need(void *lib, const char *name)
{
	void *p = dlsym(lib, name);

	if (!p)
		die(dlerror());
	return p;
}

static void open_peer(struct peer *p, const char *lib, const char *path)
{
	void *h = dlopen(lib, RTLD_NOW | RTLD_LOCAL);
	static uint8_t schema[4096];
	size_t schema_len;
	int32_t err = 0;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!h)
		die(dlerror());
	*(void **)&p->executor_create = need(h, "executor_create");
	*(void **)&p->store_open = need(h, "store_open");
	*(void **)&p->dense_gather = need(h, "dense_store_gather");
	*(void **)&p->lengths = need(h, "ragged_store_record_lengths");
	*(void **)&p->ragged_gather = need(h, "ragged_store_gather");
	p->store = p->store_open(p->executor_create((uint32_t)cpus, &err),
				 path, strlen(path), schema, sizeof(schema),
				 &schema_len, &err);
	if (!p->store)
		die("peer: open");
}

int main(int argc, char **argv)
{
	enum { most = 101 };
	static double mib[2][most], krec[2][most];
	struct zr_executor *ex;
	struct zr_error err;
	struct bench b = { .seed = 1 };
	size_t rounds;

	if (argc < 3)
		die("usage: gather LIBSTORE.so CONTAINER [BATCH [ROUNDS "
		    "[THREADS]]]");
	b.batch = argc > 3 ? strtoul(argv[3], NULL, 10) : 256;
	rounds = argc > 4 ? strtoul(argv[4], NULL, 10) : 9;
	if (rounds < 1 || rounds > most || !b.batch)
		die("bad batch or rounds");
	if (zr_open(&b.c, argv[2], NULL, &err))
		die(err.message);
	b.info = zr_info(b.c);
	if (zr_executor_new(&ex, argc > 5 ? (unsigned)atoi(argv[5]) : 0) ||
	    zr_reader_new(&b.r, b.c, ex))
		die("no memory");
	open_peer(&b.peer, argv[1], argv[2]);
	b.ids = malloc(b.batch * 8);
	b.lengths = malloc(b.batch * 8);
	b.offsets = malloc(b.batch * 8);
	b.dst_size = b.info->kind == ZR_DENSE
			     ? b.batch * (size_t)b.info->record_bytes
			     : (size_t)(4 * zr_logical_bytes(b.c) /
					b.info->records * b.batch);
	b.dst = mmap(NULL, b.dst_size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(b.dst, b.dst_size, MADV_HUGEPAGE);
	for (size_t i = 0; i <= rounds; i++) {
		/* The first round warms both up. */
		size_t at = i ? i - 1 : 0;

		mib[0][at] = round_of(&b, ours, &krec[0][at]);
		mib[1][at] = round_of(&b, theirs, &krec[1][at]);
	}
	printf("{\"container\": \"%s\", \"batch\": %zu, \"threads\": %u, ",
	       argv[2], b.batch, zr_executor_threads(ex));
	for (int k = 0; k < 2; k++)
		printf("\"%s_mib_s\": %.0f, \"%s_krec_s\": %.1f, ",
		       k ? "peer" : "ours", median(mib[k], rounds),
		       k ? "peer" : "ours", median(krec[k], rounds));
	printf("\"ratio\": %.2f}\n", mib[0][rounds / 2] / mib[1][rounds / 2]);
	zr_reader_free(b.r);
	zr_close(b.c);
	zr_executor_free(ex);
	return 0;
}
