/* SPDX-License-Identifier: BSD-2-Clause
 * Gathers of a Dense container that is on the disk and not in memory, by
 * libzrecord and by another store library with loaderx's C functions, in turn.
 *
 *   cold LIBSTORE.so CONTAINER [BATCH [BATCHES [ROUNDS]]]
 *
 * Each contender runs in a process of its own that opens the container after
 * its data was dropped from the page cache. Prints one JSON line: medians over
 * the rounds of MiB/s, and MiB that the disk gave for a MiB of records. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "zrecord.h"

#define ROUNDS_MAX 99

struct result {
	double rate;  /* MiB/s */
	double given; /* bytes from the disk for a byte of records */
};

static const char *lib, *path;
static size_t batch = 256, batches = 20;

/* Bytes that this process had read from a disk. */
static double from_disk(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return 512.0 * (double)use.ru_inblock;
}

static void draw(uint64_t *ids, uint64_t records, uint64_t *seed)
{
	for (size_t i = 0; i < batch; i++) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		ids[i] = (*seed >> 20) % records;
	}
}

typedef void (*gather_fn)(void *ctx, const uint64_t *ids, void *dst,
			  size_t width);

static void our_gather(void *r, const uint64_t *ids, void *dst, size_t width)
{
	struct zr_error err;

	if (zr_gather_dense(r, ids, batch, dst, batch * width, &err))
		die(err.message);
}

static int32_t (*dense_gather)(void *, const uint64_t *, size_t, uint8_t *,
			       size_t, size_t);

static void peer_gather(void *store, const uint64_t *ids, void *dst,
			size_t width)
{
	if (dense_gather(store, ids, batch, dst, batch * width, width))
		die("peer: gather");
}

/* dlsym returns no function pointer. */
static void symbol(void *handle, const char *name, void *out)
{
	void *p = dlsym(handle, name);

	if (!p)
		die(dlerror());
	memcpy(out, &p, sizeof(p));
}

static void *peer_open(void)
{
	void *(*executor_create)(uint32_t, int32_t *);
	void *(*store_open)(void *, const char *, size_t, uint8_t *, size_t,
			    size_t *, int32_t *);
	void *handle = dlopen(lib, RTLD_NOW | RTLD_DEEPBIND), *store;
	uint8_t schema[4096];
	size_t len;
	int32_t rc;

	if (!handle)
		die(dlerror());
	symbol(handle, "executor_create", &executor_create);
	symbol(handle, "store_open", &store_open);
	symbol(handle, "dense_store_gather", &dense_gather);
	store = store_open(executor_create(2, &rc), path, strlen(path), schema,
			   sizeof(schema), &len, &rc);
	if (!store)
		die("peer: open");
	return store;
}

static void *our_open(enum zr_placement placement)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	struct zr_executor *ex;
	struct zr_container *c;
	struct zr_error err;
	struct zr_reader *r;

	opt.placement = placement;
	if (zr_open(&c, path, &opt, &err))
		die(err.message);
	if (zr_executor_new(&ex, 2) || zr_reader_new(&r, c, ex))
		die("no memory");
	return r;
}

/* Which: 0 the peer, 1 ours mapped, 2 ours read. */
static struct result run(int which, size_t width, uint64_t records,
			 uint64_t seed)
{
	uint64_t *ids = malloc(batch * sizeof(*ids));
	unsigned char *dst = malloc(batch * width);
	gather_fn gather = which ? our_gather : peer_gather;
	double disk = from_disk(), start, t;
	void *ctx;

	memset(dst, 0, batch * width);
	start = now();
	ctx = which ? our_open(which == 1 ? ZR_PLACE_MAP : ZR_PLACE_READ)
		    : peer_open();
	for (size_t i = 0; i < batches; i++) {
		draw(ids, records, &seed);
		gather(ctx, ids, dst, width);
	}
	t = now() - start;
	disk = from_disk() - disk;
	return (struct result){ (double)(batches * batch * width) / 1048576 / t,
				disk / (double)(batches * batch * width) };
}

static struct result in_child(int which, size_t width, uint64_t records,
			      uint64_t seed)
{
	struct result res;
	int fd[2], status;
	pid_t pid;

	drop_data(path);
	if (pipe(fd) || (pid = fork()) < 0)
		die("fork");
	if (!pid) {
		res = run(which, width, records, seed);
		_exit(write(fd[1], &res, sizeof(res)) != sizeof(res));
	}
	close(fd[1]);
	if (read(fd[0], &res, sizeof(res)) != sizeof(res))
		die("a contender failed");
	close(fd[0]);
	waitpid(pid, &status, 0);
	return res;
}

static int by_rate(const void *a, const void *b)
{
	const struct result *x = a, *y = b;

	return (x->rate > y->rate) - (x->rate < y->rate);
}

int main(int argc, char **argv)
{
	static struct result res[3][ROUNDS_MAX];
	size_t rounds = 5, width;
	struct zr_container *c;
	struct zr_error err;
	uint64_t records;

	if (argc < 3)
		die("usage: cold LIBSTORE.so CONTAINER [BATCH [BATCHES "
		    "[ROUNDS]]]");
	lib = argv[1];
	path = argv[2];
	if (argc > 3)
		batch = (size_t)atol(argv[3]);
	if (argc > 4)
		batches = (size_t)atol(argv[4]);
	if (argc > 5)
		rounds = (size_t)atol(argv[5]);
	if (!batch || !batches || !rounds || rounds > ROUNDS_MAX)
		die("a number is 0 or too large");
	if (zr_open(&c, path, NULL, &err))
		die(err.message);
	width = (size_t)zr_info(c)->record_bytes;
	records = zr_info(c)->records;
	if (!width || !records)
		die("needs a Dense container with records");
	zr_close(c);
	for (size_t i = 0; i < rounds; i++)
		for (int which = 0; which < 3; which++)
			res[which][i] = in_child(which, width, records, i + 1);
	for (int which = 0; which < 3; which++)
		qsort(res[which], rounds, sizeof(res[0][0]), by_rate);
	printf("{\"container\": \"%s\", \"batch\": %zu, \"batches\": %zu, "
	       "\"rounds\": %zu",
	       path, batch, batches, rounds);
	for (int which = 0; which < 3; which++)
		printf(", \"%s_mib_s\": %.0f, \"%s_disk\": %.2f",
		       (const char *[]){ "peer", "mapped", "read" }[which],
		       res[which][rounds / 2].rate,
		       (const char *[]){ "peer", "mapped", "read" }[which],
		       res[which][rounds / 2].given);
	printf("}\n");
	return 0;
}
