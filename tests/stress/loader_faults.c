/* SPDX-License-Identifier: BSD-2-Clause
 * The loader when the system fails it: the Nth allocation, thread or read
 * fails, for N = 1 until a whole run sees no failure; and a data.zr that is cut
 * while the loader runs. Meant for MODE=asan, which also tells what leaks.
 * Returns 0, or 1 after saying what failed.
 *
 * The build gives the functions __wrap_NAME all calls of NAME from the
 * archives. Linked without that, the program does nothing and returns 77. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/scratch.h"
#include "zloader.h"

enum call { ALLOCATION, THREAD, CALLS, READ = CALLS };
static const char *const names[CALLS + 1] = { "allocation", "thread", "read" };

static atomic_int armed = -1; /* enum call, or -1 */
static atomic_int until;      /* this many calls succeed */
static atomic_bool for_ever;  /* later calls fail as well */
static atomic_bool happened;

static bool fails(enum call call)
{
	int left;

	if (atomic_load(&armed) != (int)call)
		return false;
	left = atomic_fetch_sub(&until, 1);
	if (left > 0 || (left < 0 && !atomic_load(&for_ever)))
		return false;
	atomic_store(&happened, true);
	return true;
}

/* The build finds the names by their prefix. */
#define WRAP(type, real, name, args)                                           \
	type real args __attribute__((weak));                                  \
	type name args;                                                        \
	type name args

WRAP(void *, __real_malloc, __wrap_malloc, (size_t size))
{
	return fails(ALLOCATION) ? NULL : __real_malloc(size);
}

WRAP(void *, __real_calloc, __wrap_calloc, (size_t n, size_t size))
{
	return fails(ALLOCATION) ? NULL : __real_calloc(n, size);
}

WRAP(void *, __real_realloc, __wrap_realloc, (void *p, size_t size))
{
	return fails(ALLOCATION) ? NULL : __real_realloc(p, size);
}

WRAP(void *, __real_aligned_alloc, __wrap_aligned_alloc,
     (size_t align, size_t size))
{
	return fails(ALLOCATION) ? NULL : __real_aligned_alloc(align, size);
}

WRAP(int, __real_pthread_create, __wrap_pthread_create,
     (pthread_t * t, const pthread_attr_t *a, void *(*fn)(void *), void *arg))
{
	return fails(THREAD) ? EAGAIN : __real_pthread_create(t, a, fn, arg);
}

WRAP(ssize_t, __real_pread, __wrap_pread,
     (int fd, void *to, size_t len, off_t at))
{
	if (fails(READ)) {
		errno = EIO;
		return -1;
	}
	return __real_pread(fd, to, len, at);
}

/* ---- A run ---- */

static const struct zr_container *dense, *ragged;

static int copy(void *ctx, struct zl_batch *b)
{
	(void)ctx;
	memcpy(b->array[2].data, b->array[0].data, b->array[0].bytes);
	return 0;
}

static bool right(const struct zl_batch *b)
{
	for (size_t i = 0; i < b->count; i++) {
		uint32_t a, r, c;

		memcpy(&a, b->array[0].data + i * 4, 4);
		memcpy(&r, b->array[1].data + b->array[1].offsets[i], 4);
		memcpy(&c, b->array[2].data + i * 4, 4);
		if (a != b->ids[i] || r != b->ids[i] || c != b->ids[i])
			return false;
	}
	return true;
}

/* A read that failed is an error of the step, of a stream and of a record that
 * the batch has, whichever step was under way. */
static bool told(struct zl_loader *l, const struct zl_error *e, uint64_t step)
{
	const uint64_t *ids;
	size_t n = zl_failed_ids(l, &ids);

	if (e->step != step || n != 16 ||
	    (strcmp(e->stream, "d") && strcmp(e->stream, "r")))
		return false;
	while (n && ids[n - 1] != e->record)
		n--;
	return n;
}

/* 8 steps from zl_open to zl_close. After a failed zl_next the run starts
 * again where it stood, once: a passing failure must leave no trace. Returns
 * the first error that stayed, or 1 for wrong data. */
static int run(bool retry, uint32_t flags)
{
	struct zl_stream s[] = { { "d", dense }, { "r", ragged } };
	struct zl_output out = { "c", { "<u4", 'u', '<', 4 }, { 0 } };
	struct zl_options o = ZL_OPTIONS_INIT;
	struct zl_loader *l;
	struct zl_error e;
	int rc;

	o.sampling.batch = 16;
	o.threads = 2;
	o.flags = flags;
	o.transform = copy;
	o.transform_threads = 2;
	o.output = &out;
	o.outputs = 1;
	rc = zl_open(&l, s, 2, &o, &e);
	for (uint64_t step = 0; !rc && step < 8;) {
		struct zl_batch *b;
		struct zl_state state;

		rc = zl_next(l, &b, &e);
		if (rc == -EIO && !told(l, &e, step))
			rc = 1;
		if (rc && rc != 1 && retry) {
			retry = false;
			zl_save(l, &state);
			if (state.step != step)
				rc = 1;
			else
				rc = zl_restore(l, &state, &e);
			continue;
		}
		if (!rc && (b->step != step++ || !right(b)))
			rc = 1;
		zl_return(b);
	}
	zl_close(&l);
	return rc;
}

static int fail_each(enum call call, bool ever, uint32_t flags)
{
	int bad = 0;

	for (int n = 0; n < 2000; n++) {
		int rc;

		atomic_store(&happened, false);
		atomic_store(&until, n);
		atomic_store(&for_ever, ever);
		atomic_store(&armed, (int)call);
		rc = run(!ever, flags);
		atomic_store(&armed, -1);
		if (rc == 1 || (!atomic_load(&happened) && rc)) {
			printf("%s %d%s: %d\n", names[call], n,
			       ever ? " and on" : "", rc);
			bad = 1;
		}
		/* What is read ahead of the last step is nobody's error; and
		 * records that follow each other come by one read. */
		if (call == READ && ever && n < 8 * 2 * 15 && rc != -EIO) {
			printf("read %d and on: %d\n", n, rc);
			bad = 1;
		}
		if (rc && rc != 1 && call != READ && rc != -ENOMEM &&
		    rc != -EAGAIN) {
			printf("%s %d: error %d\n", names[call], n, rc);
			bad = 1;
		}
		if (!atomic_load(&happened)) {
			printf("%s%s: %d places\n", names[call],
			       ever ? " and on" : "", n);
			return bad || n == 0;
		}
	}
	printf("%s: no run without a failure\n", names[call]);
	return 1;
}

/* ---- Containers of 64 records; record i begins with i ---- */

static void make(const char *path, bool is_dense)
{
	struct zr_dtype u4 = { "<u4", 'u', '<', 4 };
	struct zr_shape scalar = { 0 };
	struct zr_writer *w;

	if (zr_create(&w, path, is_dense ? ZR_DENSE : ZR_RAGGED, &u4,
		      is_dense ? &scalar : NULL, NULL, NULL))
		exit(1);
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t v[8] = { i };
		uint64_t dims[] = { 1 + i % 8 }, off[] = { 0, dims[0] * 4 },
			 doff[] = { 0, 1 };
		struct zr_ragged b = { .count = 1,
				       .offsets = off,
				       .values = (unsigned char *)v,
				       .dims = dims,
				       .dim_offsets = doff };

		if (is_dense ? zr_append_dense(w, v, 1, NULL)
			     : zr_append_ragged(w, &b, NULL))
			exit(1);
	}
	if (zr_publish(w, NULL))
		exit(1);
}

/* Opened so that each record is a read. */
static struct zr_container *open_read(const char *path)
{
	struct zr_open_options o = ZR_OPEN_OPTIONS_INIT;
	struct zr_container *c;

	o.placement = ZR_PLACE_READ;
	if (zr_open(&c, path, &o, NULL))
		exit(1);
	return c;
}

/* ---- A file that is cut ---- */

enum { page = 4096, pages = 64, per_step = 4, cut_step = 12 };

static void make_pages(const char *path)
{
	static unsigned char item[page];
	struct zr_dtype u1 = { "|u1", 'u', '|', 1 };
	struct zr_shape shape = { 1, { page } };
	struct zr_writer *w;

	if (zr_create(&w, path, ZR_DENSE, &u1, &shape, NULL, NULL))
		exit(1);
	for (int i = 0; i < pages; i++) {
		memset(item, i, page);
		if (zr_append_dense(w, item, 1, NULL))
			exit(1);
	}
	if (zr_publish(w, NULL))
		exit(1);
}

/* Steps [from, to) come, with their records. */
static int pages_come(struct zl_loader *l, uint64_t from, uint64_t to)
{
	int bad = 0;

	for (; from < to && !bad; from++) {
		struct zl_batch *b;
		struct zl_error e;

		if (zl_next(l, &b, &e)) {
			printf("step %d: %s\n", (int)from, e.message);
			return 1;
		}
		bad = b->step != from || b->count != per_step;
		for (size_t i = 0; i < b->count && !bad; i++)
			bad = b->array[0].data[i * page + page - 1] !=
			      (from * per_step + i) % pages;
		zl_return(b);
	}
	return bad;
}

/* data.zr loses what steps from cut_step on read while the loader runs: the
 * steps in front of it come, it fails, and comes when the bytes are back. */
static int cut(struct scratch *s, enum zr_placement placement, uint32_t flags)
{
	struct zr_open_options how = ZR_OPEN_OPTIONS_INIT;
	struct zl_options o = ZL_OPTIONS_INIT;
	struct zl_stream stream = { "p", NULL };
	static unsigned char kept[(pages - cut_step * per_step) * page];
	off_t at = cut_step * per_step * page;
	struct zr_container *c;
	const uint64_t *ids;
	struct zl_loader *l;
	struct zl_batch *b;
	struct zl_error e;
	int fd, rc, bad;

	how.placement = placement;
	fd = open(scratch_path(s, "p/data.zr"), O_RDWR);
	if (fd < 0 || zr_open(&c, scratch_path(s, "p"), &how, NULL))
		return 1;
	stream.container = c;
	o.sampling.batch = per_step;
	o.sampling.order = ZL_SEQUENTIAL;
	o.flags = flags;
	if (zl_open(&l, &stream, 1, &o, &e))
		return 1;
	bad = pages_come(l, 0, 2);
	if (pread(fd, kept, sizeof(kept), at) != sizeof(kept) ||
	    ftruncate(fd, at))
		return 1;
	bad |= pages_come(l, 2, cut_step);
	rc = zl_next(l, &b, &e);
	if (rc != -EIO || e.step != cut_step || strcmp(e.stream, "p") ||
	    e.record / per_step != cut_step ||
	    zl_failed_ids(l, &ids) != per_step ||
	    ids[0] != cut_step * per_step || zl_next(l, &b, &e) != -EIO) {
		printf("cut: %d, step %d, record %d: %s\n", rc, (int)e.step,
		       (int)e.record, e.message);
		bad = 1;
	}
	if (pwrite(fd, kept, sizeof(kept), at) != sizeof(kept))
		return 1;
	if (zl_seek(l, cut_step))
		return 1;
	bad |= pages_come(l, cut_step, cut_step + 20);
	zl_close(&l);
	zr_close(c);
	close(fd);
	return bad;
}

static int fail_system(struct scratch *s)
{
	struct zr_container *d, *r;
	int bad = 0;

	if (zr_open(&d, scratch_path(s, "d"), NULL, NULL) ||
	    zr_open(&r, scratch_path(s, "r"), NULL, NULL))
		return 1;
	dense = d;
	ragged = r;
	for (int call = 0; call < CALLS; call++) {
		bad |= fail_each((enum call)call, false, 0);
		bad |= fail_each((enum call)call, true, 0);
	}
	zr_close(d);
	zr_close(r);
	return bad;
}

/* ZL_SKIP is for records that are damaged, not for a disk that is gone. */
static int fail_reads(struct scratch *s)
{
	struct zr_container *d = open_read(scratch_path(s, "d"));
	struct zr_container *r = open_read(scratch_path(s, "r"));
	int bad = 0;

	dense = d;
	ragged = r;
	for (uint32_t flags = 0; flags <= ZL_SKIP; flags += ZL_SKIP) {
		bad |= fail_each(READ, false, flags);
		bad |= fail_each(READ, true, flags);
		bad |= cut(s, ZR_PLACE_MAP, flags);
		bad |= cut(s, ZR_PLACE_READ, flags);
	}
	zr_close(d);
	zr_close(r);
	return bad;
}

int main(void)
{
	struct scratch s;
	int bad;

	if (!__real_malloc || !__real_calloc || !__real_pthread_create ||
	    !__real_pread) {
		puts("loader_faults: linked without --wrap, skipped");
		return 77;
	}
	scratch_make(&s);
	make(scratch_path(&s, "d"), true);
	make(scratch_path(&s, "r"), false);
	make_pages(scratch_path(&s, "p"));
	bad = fail_system(&s);
	bad |= fail_reads(&s);
	scratch_remove(&s);
	if (!bad)
		puts("loader_faults: ok");
	return bad;
}
