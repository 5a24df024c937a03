/* SPDX-License-Identifier: BSD-2-Clause
 * Data that is on the disk: what is asked for, and that it is read right. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#include "make.h"
#include "scratch.h"

enum { count = 600, width = 32768, page = 4096 };

static struct scratch s;

static void setup(void)
{
	scratch_make(&s);
}

static void teardown(void)
{
	scratch_remove(&s);
}

TestSuite(prefetch, .init = setup, .fini = teardown);

static unsigned char byte_of(uint64_t id, size_t at)
{
	return (unsigned char)(id * 31 + at / 7);
}

static const char *make_file(void)
{
	const char *path = scratch_path(&s, "c.zr");
	struct zr_dtype dtype = make_dtype("|u1");
	struct zr_shape shape = { .rank = 1, .dims = { width } };
	unsigned char *record = malloc(width);
	struct zr_writer *w;

	cr_assert(zr_create(&w, path, ZR_DENSE, &dtype, &shape, NULL, NULL) ==
		  0);
	for (uint64_t id = 0; id < count; id++) {
		for (size_t at = 0; at < width; at++)
			record[at] = byte_of(id, at);
		cr_assert(zr_append_dense(w, record, 1, NULL) == 0);
	}
	cr_assert(zr_publish(w, NULL) == 0);
	free(record);
	return path;
}

/* Pages of data.zr that are in memory: of record `id`, or of all of them. */
static size_t in_memory(const char *path, uint64_t id)
{
	size_t len = id == ZR_NONE ? (size_t)count * width : width;
	off_t from = id == ZR_NONE ? 0 : (off_t)(id * width);
	static unsigned char in[(size_t)count * width / page];
	size_t n = 0;
	char name[700];
	void *map;
	int fd;

	snprintf(name, sizeof(name), "%s/data.zr", path);
	fd = open(name, O_RDONLY);
	map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, from);
	cr_assert(map != MAP_FAILED);
	cr_assert(mincore(map, len, in) == 0);
	for (size_t i = 0; i < len / page; i++)
		n += in[i] & 1;
	munmap(map, len);
	close(fd);
	return n;
}

/* Is the file out of memory now? tmpfs keeps it there. */
static bool drop(const char *path)
{
	char name[700];
	int fd;

	snprintf(name, sizeof(name), "%s/data.zr", path);
	fd = open(name, O_RDONLY);
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
	return in_memory(path, ZR_NONE) == 0;
}

#define NEEDS_A_DISK(path)                                                     \
	if (!drop(path))                                                       \
	cr_skip_test("files here do not leave memory: TMPDIR is no disk")

static struct zr_container *open_at(const char *path,
				    enum zr_placement placement)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	struct zr_container *c;

	opt.placement = placement;
	cr_assert(zr_open(&c, path, &opt, NULL) == 0);
	return c;
}

static void asks_for(enum zr_placement placement)
{
	const char *path = make_file();
	uint64_t ids[5] = { 500, 100, UINT64_MAX, 101, 300 };
	struct timespec tick = { .tv_nsec = 1000000 };
	struct zr_container *c;

	NEEDS_A_DISK(path);
	c = open_at(path, placement);
	zr_prefetch(c, ids, 5);
	for (int i = 0; i < 5000; i++) {
		if (in_memory(path, 500) + in_memory(path, 100) +
			    in_memory(path, 101) + in_memory(path, 300) ==
		    4 * width / page)
			break;
		nanosleep(&tick, NULL);
	}
	cr_expect(in_memory(path, 500) == width / page);
	cr_expect(in_memory(path, 100) == width / page);
	cr_expect(in_memory(path, 101) == width / page);
	cr_expect(in_memory(path, 300) == width / page);
	cr_expect(in_memory(path, ZR_NONE) < 16 * width / page,
		  "asked for what nobody wants");
	zr_close(c);
}

Test(prefetch, asks_for_these_records_mapped)
{
	asks_for(ZR_PLACE_MAP);
}

Test(prefetch, asks_for_these_records_read)
{
	asks_for(ZR_PLACE_READ);
}

static void gathers(enum zr_placement placement, unsigned threads)
{
	const char *path = make_file();
	unsigned char *batch = malloc((size_t)count * width);
	struct zr_executor *ex = NULL;
	struct zr_container *c;
	uint64_t ids[count];
	struct zr_reader *r;

	NEEDS_A_DISK(path);
	for (uint64_t i = 0; i < count; i++)
		ids[i] = i * 577 % count;
	cr_assert(zr_executor_new(&ex, threads) == 0);
	c = open_at(path, placement);
	cr_assert(zr_reader_new(&r, c, ex) == 0);
	/* More rounds than it takes to believe that all is in memory, and then
	 * it is not. */
	for (int round = 0; round < 40; round++) {
		if (round == 0 || round == 30)
			cr_expect(drop(path) || placement == ZR_PLACE_MAP);
		memset(batch, 0xee, (size_t)count * width);
		cr_assert(zr_gather_dense(r, ids, count, batch,
					  (size_t)count * width, NULL) == 0);
		for (uint64_t i = 0; i < count; i++)
			for (size_t at = 0; at < width; at += 4095)
				cr_assert(batch[i * width + at] ==
					  byte_of(ids[i], at));
	}
	zr_reader_free(r);
	zr_close(c);
	zr_executor_free(ex);
	free(batch);
}

Test(prefetch, cold_gather_mapped)
{
	gathers(ZR_PLACE_MAP, 1);
}

Test(prefetch, cold_gather_read_two_threads)
{
	gathers(ZR_PLACE_READ, 2);
}

Test(prefetch, no_ids_and_resident_data_are_no_work)
{
	const char *path = make_file();
	struct zr_container *c = open_at(path, ZR_PLACE_RESIDENT);
	uint64_t id = 3;

	zr_prefetch(c, NULL, 0);
	drop(path);
	zr_prefetch(c, &id, 1);
	cr_expect(in_memory(path, 3) == 0 || !drop(path));
	zr_close(c);
}

/* A reader that was trimmed reads on. */
Test(prefetch, trimmed_reader_reads_on)
{
	const char *path = make_file();
	struct zr_container *c = open_at(path, ZR_PLACE_READ);
	unsigned char part[100];
	struct zr_reader *r;

	cr_assert(zr_reader_new(&r, c, NULL) == 0);
	for (size_t keep = 0; keep <= width * 2; keep += width) {
		cr_assert(zr_read_part(r, 5, 50, part, 100, NULL) == 0);
		cr_expect(part[99] == byte_of(5, 149));
		zr_reader_trim(r, keep);
	}
	zr_reader_free(r);
	zr_close(c);
}
