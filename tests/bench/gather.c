/* SPDX-License-Identifier: BSD-2-Clause
 * Gathers of one container by libzrecord and by others, in one process, in
 * turn, on the same ids and into the same buffer:
 *
 *   gather [-f] [-b BATCH] [-r ROUNDS] [-t THREADS] [-l LIBSTORE] [-n NPY]
 *          CONTAINER
 *
 *   ours     zr_gather_dense, zr_gather_ragged
 *   loaderx  the store library LIBSTORE with loaderx's C functions
 *   zstd     ZSTD_decompressDCtx of the same frames and nothing else: what no
 *            reader of compressed records can be faster than
 *   memcpy   of the same records of NPY, mapped: the plain way to read a
 *            Dense raw container
 *
 * With -f each batch goes into memory that is mapped for it and unmapped after
 * it, as NumPy does with a new array of each batch.
 *
 * The last two run on the threads of an executor, in the tasks that libzrecord
 * makes. Prints one JSON line: medians over the rounds of MiB/s of elements
 * and thousand records/s, and medians of the ratios of ours to each other in
 * the same round. Every round takes 0.2 s for each. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "bench.h"
#include "zrecord.h"

#define ROUNDS_MAX 101
#define SECONDS 0.2
/* Ids of a round are drawn before it; one that is faster begins again. */
#define IDS ((size_t)1 << 20)

/* As the engine: the decoded bytes of a task, and below which a batch is not
 * worth waking another thread for. */
#define TASK_RAW ((size_t)64 << 10)
#define TASK_ENCODED ((size_t)16 << 10)
#define ALONE_RAW ((uint64_t)128 << 10)
#define ALONE_ENCODED ((uint64_t)32 << 10)

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

/* An entry of the table (FORMAT.md F4) on a little-endian machine. */
struct entry {
	uint64_t offset;
	uint32_t phys, logic;
};

struct bench {
	struct zr_container *c;
	const struct zr_info *info;
	struct zr_executor *ex;
	struct zr_reader *r;
	struct peer peer;
	const struct entry *table; /* zstd */
	const unsigned char *data; /* zstd: data.zr; memcpy: rows of NPY */
	ZSTD_DCtx **dctx;          /* a lane each */
	size_t batch, run;         /* run: records of a task */
	const uint64_t *ids;       /* of this batch */
	uint64_t *lengths, *offsets;
	unsigned char *dst;
	size_t dst_size;
	bool fresh;
	struct zr_ragged ragged;
	uint64_t bytes, records; /* of elements, in all that ours gathered */
};

struct contender {
	const char *name;
	void (*gather)(struct bench *);
	double krec[ROUNDS_MAX];
};

static void ours(struct bench *b)
{
	struct zr_error err;
	int rc;

	if (b->info->kind == ZR_DENSE)
		rc = zr_gather_dense(b->r, b->ids, b->batch, b->dst,
				     b->dst_size, &err);
	else
		rc = zr_gather_ragged(b->r, b->ids, b->batch, &b->ragged, &err);
	if (rc)
		die(err.message);
	b->records += b->batch;
	b->bytes += b->info->kind == ZR_DENSE ? b->batch * b->info->record_bytes
					      : b->ragged.offsets[b->batch];
}

static void loaderx(struct bench *b)
{
	size_t width = (size_t)b->info->record_bytes;
	uint64_t total = 0;

	if (b->info->kind == ZR_DENSE) {
		if (b->peer.dense_gather(b->peer.store, b->ids, b->batch,
					 b->dst, b->batch * width, width))
			die("loaderx: dense gather");
		return;
	}
	if (b->peer.lengths(b->peer.store, b->ids, b->batch, b->lengths))
		die("loaderx: lengths");
	for (size_t i = 0; i < b->batch; i++) {
		b->offsets[i] = total;
		total += b->lengths[i];
	}
	if (b->peer.ragged_gather(b->peer.store, b->ids, b->batch, b->dst,
				  total, b->offsets))
		die("loaderx: ragged gather");
}

static void in_tasks(struct bench *b, uint64_t bytes, uint64_t alone,
		     void (*task)(void *, unsigned, size_t))
{
	zr_executor_run(bytes < alone ? NULL : b->ex,
			(b->batch - 1) / b->run + 1, task, b);
}

static size_t task_end(const struct bench *b, size_t task)
{
	size_t first = task * b->run;

	return b->batch - first < b->run ? b->batch : first + b->run;
}

static void zstd_task(void *ctx, unsigned lane, size_t task)
{
	struct bench *b = ctx;

	for (size_t i = task * b->run; i < task_end(b, task); i++) {
		const struct entry *e = &b->table[b->ids[i]];

		if (ZSTD_decompressDCtx(b->dctx[lane], b->dst + b->offsets[i],
					e->logic, b->data + e->offset,
					e->phys) != e->logic)
			die("zstd: a frame does not decode");
	}
}

static void zstd(struct bench *b)
{
	uint64_t total = 0;

	for (size_t i = 0; i < b->batch; i++) {
		b->offsets[i] = total;
		total += b->table[b->ids[i]].logic;
	}
	in_tasks(b, total, ALONE_ENCODED, zstd_task);
}

static void memcpy_task(void *ctx, unsigned lane, size_t task)
{
	struct bench *b = ctx;
	size_t width = (size_t)b->info->record_bytes;

	(void)lane;
	for (size_t i = task * b->run; i < task_end(b, task); i++)
		memcpy(b->dst + i * width, b->data + b->ids[i] * width, width);
}

static void plain_memcpy(struct bench *b)
{
	in_tasks(b, b->batch * b->info->record_bytes, ALONE_RAW, memcpy_task);
}

/* As NumPy's allocator does it: large arrays are asked to be on huge pages. */
static void map_dst(struct bench *b)
{
	b->dst = mmap(NULL, b->dst_size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->dst == MAP_FAILED)
		die("no memory");
	madvise(b->dst, b->dst_size, MADV_HUGEPAGE);
	b->ragged.values = b->dst;
	b->ragged.values_size = b->dst_size;
}

/* Thousand records per second in one round. */
static double round_of(struct bench *b, const struct contender *who,
		       const uint64_t *ids)
{
	/* The clock costs as much as a small record. */
	size_t burst = b->batch < 256 ? 256 / b->batch : 1;
	size_t at = 0, records = 0;
	double start = now(), t;

	do {
		for (size_t i = 0; i < burst; i++) {
			if (IDS - at < b->batch)
				at = 0;
			b->ids = ids + at;
			at += b->batch;
			if (b->fresh)
				map_dst(b);
			who->gather(b);
			if (b->fresh)
				munmap(b->dst, b->dst_size);
		}
		records += burst * b->batch;
		t = now() - start;
	} while (t < SECONDS);
	return (double)records / t / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *v, size_t n)
{
	double sorted[ROUNDS_MAX];

	memcpy(sorted, v, n * sizeof(*v));
	qsort(sorted, n, sizeof(*v), by_value);
	return sorted[n / 2];
}

static void *need(void *lib, const char *name)
{
	void *p = dlsym(lib, name);

	if (!p)
		die(dlerror());
	return p;
}

static void open_loaderx(struct peer *p, const char *lib, const char *path,
			 unsigned threads)
{
	/* DEEPBIND: with the libzstd that it carries, not with ours. */
	void *h = dlopen(lib, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	static uint8_t schema[4096];
	size_t schema_len;
	int32_t err = 0;

	if (!h)
		die(dlerror());
	*(void **)&p->executor_create = need(h, "executor_create");
	*(void **)&p->store_open = need(h, "store_open");
	*(void **)&p->dense_gather = need(h, "dense_store_gather");
	*(void **)&p->lengths = need(h, "ragged_store_record_lengths");
	*(void **)&p->ragged_gather = need(h, "ragged_store_gather");
	p->store = p->store_open(p->executor_create(threads, &err), path,
				 strlen(path), schema, sizeof(schema),
				 &schema_len, &err);
	if (!p->store)
		die("loaderx: open");
}

static const void *map(const char *dir, const char *name, size_t *size)
{
	char path[4096];
	struct stat st;
	void *p;
	int fd;

	snprintf(path, sizeof(path), "%s%s%s", dir, name ? "/" : "",
		 name ? name : "");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		die(path);
	*size = (size_t)st.st_size;
	p = mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		die(path);
	close(fd);
	return p;
}

static void open_zstd(struct bench *b, const char *path)
{
	unsigned lanes = zr_executor_threads(b->ex);
	ZSTD_DDict *ddict = NULL;
	size_t size;

	b->table = (const struct entry *)((const char *)map(path, "meta.zr",
							    &size) +
					  4096);
	b->data = map(path, "data.zr", &size);
	if (b->info->codec == ZR_ZSTD_DICT) {
		const void *dict = map(path, "dict.zr", &size);

		ddict = ZSTD_createDDict(dict, size);
	}
	b->dctx = calloc(lanes, sizeof(*b->dctx));
	for (unsigned i = 0; i < lanes; i++) {
		b->dctx[i] = ZSTD_createDCtx();
		ZSTD_DCtx_refDDict(b->dctx[i], ddict);
	}
}

static void open_npy(struct bench *b, const char *path)
{
	struct zr_error err;
	struct zr_npy npy;
	size_t size;

	b->data = map(path, NULL, &size);
	if (zr_npy_parse(b->data, size, &npy, &err))
		die(err.message);
	if (npy.shape.dims[0] != b->info->records)
		die("NPY is not of this container");
	b->data += npy.header_bytes;
}

static void open_buffers(struct bench *b, const char *path)
{
	size_t size;
	const struct entry *table =
		(const struct entry *)((const char *)map(path, "meta.zr",
							 &size) +
				       4096);
	uint64_t most = 0, mean = zr_logical_bytes(b->c) / b->info->records;
	uint64_t task;

	for (uint64_t i = 0; i < b->info->records; i++)
		most = table[i].logic > most ? table[i].logic : most;
	task = b->info->codec == ZR_RAW ? TASK_RAW : TASK_ENCODED;
	b->run = mean < task ? task / (size_t)(mean + 1) + 1 : 1;
	b->lengths = malloc(b->batch * 8);
	b->offsets = malloc((b->batch + 1) * 8);
	b->dst_size = b->batch * (size_t)most;
	map_dst(b);
	b->ragged.count_size = b->batch;
	b->ragged.dims_size = b->batch * ZR_RANK_MAX;
	b->ragged.offsets = malloc((b->batch + 1) * 8);
	b->ragged.dim_offsets = malloc((b->batch + 1) * 8);
	b->ragged.dims = malloc(b->ragged.dims_size * 8);
}

/* Random ids take long to find the last page that is on the disk. */
static void read_all(struct bench *b, uint64_t *ids)
{
	for (uint64_t at = 0; at < b->info->records; at += b->batch) {
		for (size_t i = 0; i < b->batch; i++)
			ids[i] = (at + i) % b->info->records;
		b->ids = ids;
		ours(b);
	}
	b->bytes = b->records = 0;
}

static void draw(uint64_t *ids, uint64_t records, uint64_t *seed)
{
	for (size_t i = 0; i < IDS; i++) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		ids[i] = (*seed >> 20) % records;
	}
}

static void print(const struct bench *b, const struct contender *who,
		  size_t count, size_t rounds)
{
	double mean = (double)b->bytes / (double)b->records, ratio[ROUNDS_MAX];

	printf("{\"fresh\": %s, \"batch\": %zu, \"threads\": %u, "
	       "\"rounds\": %zu, \"record_bytes\": %.1f",
	       b->fresh ? "true" : "false", b->batch, zr_executor_threads(b->ex), rounds, mean);
	for (size_t k = 0; k < count; k++) {
		double krec = median(who[k].krec, rounds);

		printf(", \"%s_mib_s\": %.0f, \"%s_krec_s\": %.1f", who[k].name,
		       krec * 1e3 * mean / 1048576, who[k].name, krec);
		for (size_t i = 0; i < rounds; i++)
			ratio[i] = who[0].krec[i] / who[k].krec[i];
		if (k)
			printf(", \"ours_to_%s\": %.3f", who[k].name,
			       median(ratio, rounds));
	}
	puts("}");
}

int main(int argc, char **argv)
{
	static struct contender who[4];
	const char *lib = NULL, *npy = NULL;
	size_t count = 0, rounds = 9;
	struct bench b = { .batch = 256 };
	uint64_t *ids, seed = 1;
	unsigned threads = 0;
	struct zr_error err;
	int o;

	while ((o = getopt(argc, argv, "fb:r:t:l:n:")) != -1) {
		if (o == 'f')
			b.fresh = true;
		else if (o == 'b')
			b.batch = strtoul(optarg, NULL, 10);
		else if (o == 'r')
			rounds = strtoul(optarg, NULL, 10);
		else if (o == 't')
			threads = (unsigned)strtoul(optarg, NULL, 10);
		else if (o == 'l')
			lib = optarg;
		else if (o == 'n')
			npy = optarg;
		else
			return 2;
	}
	if (argc - optind != 1 || rounds < 1 || rounds > ROUNDS_MAX ||
	    b.batch < 1 || b.batch > IDS)
		die("usage: gather [-f] [-b BATCH] [-r ROUNDS] [-t THREADS] "
		    "[-l LIBSTORE] [-n NPY] CONTAINER");
	if (zr_open(&b.c, argv[optind], NULL, &err))
		die(err.message);
	b.info = zr_info(b.c);
	if (zr_executor_new(&b.ex, threads) || zr_reader_new(&b.r, b.c, b.ex))
		die("no memory");
	open_buffers(&b, argv[optind]);
	who[count++] = (struct contender){ .name = "ours", .gather = ours };
	if (lib) {
		open_loaderx(&b.peer, lib, argv[optind],
			     zr_executor_threads(b.ex));
		who[count].name = "loaderx";
		who[count++].gather = loaderx;
	}
	if (b.info->codec != ZR_RAW) {
		open_zstd(&b, argv[optind]);
		who[count].name = "zstd";
		who[count++].gather = zstd;
	} else if (npy) {
		open_npy(&b, npy);
		who[count].name = "memcpy";
		who[count++].gather = plain_memcpy;
	}
	ids = malloc(IDS * 8);
	read_all(&b, ids);
	/* The first round warms the others up. */
	for (size_t i = 0; i <= rounds; i++) {
		draw(ids, b.info->records, &seed);
		for (size_t k = 0; k < count; k++)
			who[k].krec[i ? i - 1 : 0] = round_of(&b, &who[k], ids);
	}
	print(&b, who, count, rounds);
	zr_reader_free(b.r);
	zr_close(b.c);
	zr_executor_free(b.ex);
	return 0;
}
