/* SPDX-License-Identifier: BSD-2-Clause
 * The loader when the system fails it: the Nth allocation, thread or mapping,
 * for N = 1 until a whole run sees no failure. Meant for MODE=asan, which
 * also tells what leaks. Returns 0, or 1 after saying what failed.
 *
 * Link with -Wl,--wrap=malloc,--wrap=calloc,--wrap=pthread_create,
 * --wrap=mmap; calls from the archives are the wrapped ones. Linked without,
 * the program does nothing and returns 77. Records that do not read are the
 * business of loader_pipeline. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../unit/scratch.h"
#include "zloader.h"

enum call { ALLOCATION, THREAD, MAPPING, CALLS };
static const char *const names[CALLS] = { "allocation", "thread", "mapping" };

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

#pragma weak __real_malloc
#pragma weak __real_calloc
#pragma weak __real_pthread_create
#pragma weak __real_mmap
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
int __real_pthread_create(pthread_t *t, const pthread_attr_t *a,
			  void *(*fn)(void *), void *arg);
void *__real_mmap(void *at, size_t len, int prot, int flags, int fd, off_t off);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a,
			  void *(*fn)(void *), void *arg);
void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t off);

void *__wrap_malloc(size_t size)
{
	return fails(ALLOCATION) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails(ALLOCATION) ? NULL : __real_calloc(n, size);
}

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a,
			  void *(*fn)(void *), void *arg)
{
	return fails(THREAD) ? EAGAIN : __real_pthread_create(t, a, fn, arg);
}

void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	if (fails(MAPPING)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mmap(at, len, prot, flags, fd, off);
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

/* 8 steps from zl_open to zl_close. After a failed zl_next the run starts
 * again where it stood, once: a passing failure must leave no trace. Returns
 * the first error that stayed, or 1 for wrong data. */
static int run(bool retry)
{
	struct zl_stream s[] = { { "d", dense }, { "r", ragged } };
	struct zl_output out = { "c", { "<u4", 'u', '<', 4 }, { 0 } };
	struct zl_options o = ZL_OPTIONS_INIT;
	struct zl_loader *l;
	struct zl_error e;
	int rc;

	o.sampling.batch = 16;
	o.threads = 2;
	o.transform = copy;
	o.transform_threads = 2;
	o.output = &out;
	o.outputs = 1;
	rc = zl_open(&l, s, 2, &o, &e);
	for (uint64_t step = 0; !rc && step < 8;) {
		struct zl_batch *b;
		struct zl_state state;

		rc = zl_next(l, &b, &e);
		if (rc && retry) {
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

static int fail_each(enum call call, bool ever)
{
	int bad = 0;

	for (int n = 0; n < 2000; n++) {
		int rc;

		atomic_store(&happened, false);
		atomic_store(&until, n);
		atomic_store(&for_ever, ever);
		atomic_store(&armed, (int)call);
		rc = run(!ever);
		atomic_store(&armed, -1);
		if (rc == 1 || (!atomic_load(&happened) && rc)) {
			printf("%s %d%s: %d\n", names[call], n,
			       ever ? " and on" : "", rc);
			bad = 1;
		}
		if (rc && rc != 1 && rc != -ENOMEM && rc != -EAGAIN) {
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

int main(void)
{
	struct zr_container *d, *r;
	struct scratch s;
	int bad = 0;

	if (!__real_malloc || !__real_calloc || !__real_pthread_create ||
	    !__real_mmap) {
		puts("loader_faults: linked without --wrap, skipped");
		return 77;
	}
	scratch_make(&s);
	make(scratch_path(&s, "d"), true);
	make(scratch_path(&s, "r"), false);
	if (zr_open(&d, scratch_path(&s, "d"), NULL, NULL) ||
	    zr_open(&r, scratch_path(&s, "r"), NULL, NULL))
		return 1;
	dense = d;
	ragged = r;
	for (int call = 0; call < CALLS; call++) {
		bad |= fail_each((enum call)call, false);
		bad |= fail_each((enum call)call, true);
	}
	zr_close(d);
	zr_close(r);
	scratch_remove(&s);
	if (!bad)
		puts("loader_faults: ok");
	return bad;
}
