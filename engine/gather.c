/* SPDX-License-Identifier: BSD-2-Clause
 * Many records at once, Dense; and how any gather is split into tasks. */
#include "gather.h"

#include <errno.h>

#include "checked.h"
#include "error.h"
#include "guard.h"

/* Bytes a task should decode to: large enough to pay for taking it, small
 * enough that the threads end together. */
#define TASK_BYTES ((uint64_t)128 << 10)

static void keep_error(struct zr_gather *g, size_t i, int code,
		       const struct zr_error *err)
{
	pthread_mutex_lock(&g->lock);
	if (i < atomic_load_explicit(&g->failed_at, memory_order_relaxed)) {
		atomic_store_explicit(&g->failed_at, i, memory_order_relaxed);
		g->code = code;
		if (g->err)
			*g->err = *err;
	}
	pthread_mutex_unlock(&g->lock);
}

/* Records [i, end); *at tells which one is being read if it faults. */
static int gather_span(struct zr_gather *g, struct zr_lane *lane, size_t i,
		       size_t end, volatile size_t *at, struct zr_error *err)
{
	for (; i < end; i++) {
		int rc;

		/* Only an earlier record can still change the result. */
		if (i > atomic_load_explicit(&g->failed_at,
					     memory_order_relaxed))
			return 0;
		*at = i;
		rc = g->one(g, lane, i, err);
		if (rc)
			return rc;
	}
	return 0;
}

static void gather_task(void *ctx, unsigned lane, size_t task)
{
	struct zr_gather *g = ctx;
	const struct zr_container *c = g->r->c;
	size_t first = task * g->run;
	size_t count = g->count - first < g->run ? g->count - first : g->run;
	volatile size_t at = first;
	struct zr_error err;
	int rc;

	ZR_GUARDED(c, rc,
		   gather_span(g, &g->r->lane[lane], first, first + count, &at,
			       &err),
		   zr_fault(c, g->ids[at], &err));
	if (rc)
		keep_error(g, at, rc, &err);
}

int zr_gather_all(struct zr_gather *g, uint64_t bytes)
{
	uint64_t each = g->count ? bytes / g->count : 0;
	size_t tasks;

	if (!g->count)
		return 0;
	g->run = each < TASK_BYTES ? (size_t)(TASK_BYTES / (each + 1)) + 1 : 1;
	tasks = (g->count - 1) / g->run + 1;
	atomic_init(&g->failed_at, SIZE_MAX);
	g->code = 0;
	pthread_mutex_init(&g->lock, NULL);
	zr_executor_run(g->r->ex, tasks, gather_task, g);
	pthread_mutex_destroy(&g->lock);
	return g->code;
}

static int dense_one(struct zr_gather *g, struct zr_lane *lane, size_t i,
		     struct zr_error *err)
{
	const struct zr_container *c = g->r->c;
	struct zr_entry e;
	int rc = zr_locate(c, g->ids[i], &e, err);

	if (rc)
		return rc;
	return zr_fetch(c, lane, g->ids[i], &e,
			g->dst + i * (size_t)c->meta.record_bytes, err);
}

int zr_gather_dense(struct zr_reader *r, const uint64_t *ids, size_t count,
		    void *dst, size_t size, struct zr_error *err)
{
	struct zr_gather g = { .r = r, .ids = ids, .count = count,
			       .one = dense_one, .dst = dst, .err = err };
	uint64_t bytes;

	if (r->c->meta.kind != ZR_DENSE)
		return zr_fail(err, -EINVAL, r->c->path,
			       "is Ragged: gather it with zr_gather_ragged");
	if (!zr_mul(count, r->c->meta.record_bytes, &bytes) || bytes > size)
		return zr_fail_at(err, -EINVAL, r->c->path,
				  (struct zr_facts){ ZR_NONE, ZR_NONE, size,
						     ZR_NONE },
				  "the buffer of %zu bytes is too small for "
				  "%zu records of %llu",
				  size, count,
				  (unsigned long long)r->c->meta.record_bytes);
	return zr_gather_all(&g, bytes);
}
