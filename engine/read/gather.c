/* SPDX-License-Identifier: BSD-2-Clause
 * Many records at once, Dense; and how any gather is split into tasks. */
#include "gather.h"

#include <errno.h>

#include "base/checked.h"
#include "base/copy.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/guard.h"
#include "base/io.h"
#include "base/le.h"
#include "prefetch.h"

/* Bytes a task should decode to: large enough to pay for taking it, small
 * enough that the threads end together; either some 30 microseconds. */
#define TASK_RAW ((uint64_t)64 << 10)
#define TASK_ENCODED ((uint64_t)16 << 10)

/* A gather of fewer bytes is done by its caller before another thread would
 * have taken its share; and of fewer than ASLEEP times that if the other thread
 * must be woken up first. */
#define ALONE_RAW ((uint64_t)128 << 10)
#define ALONE_ENCODED ((uint64_t)32 << 10)
#define ASLEEP 8

/* A gather of less is not worth two system calls that tell whether its data
 * is on the disk. */
#define WATCHED_COUNT 8
#define WATCHED_BYTES ((uint64_t)16 << 10)

/* The disk is asked for as many bytes beyond the present task, at least for one
 * record: a queue that stays full, in a page cache that others use too. */
#define AHEAD_BYTES ((uint64_t)16 << 20)

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

/* Table entries and records that are mapped are asked of memory this many
 * records before they are needed. */
#define ENTRY_AHEAD 32
#define RECORD_AHEAD 8
#define RECORD_LINES 4 /* then the processor sees the stream itself */

/* Inlined by force: for gcc a function that only prefetches has no effect, and
 * calls of it go. */
__attribute__((always_inline)) static inline void
prefetch(const struct zr_gather *g, size_t i)
{
	const struct zr_container *c = g->r->c;
	/* Going down, what would be below 0 wraps to beyond the end. */
	size_t entry = g->down ? i - ENTRY_AHEAD : i + ENTRY_AHEAD;
	size_t record = g->down ? i - RECORD_AHEAD : i + RECORD_AHEAD;
	const unsigned char *p;
	uint64_t id, off;

	if (entry < g->count && (id = g->ids[entry]) < c->meta.length)
		__builtin_prefetch(c->table + id * ZR_ENTRY_BYTES);
	if (!c->data.bytes || record >= g->count ||
	    (id = g->ids[record]) >= c->meta.length)
		return;
	/* Not checked: a prefetch of any address does no harm. */
	off = zr_le64(c->table + id * ZR_ENTRY_BYTES);
	p = c->data.bytes + (off & (((uint64_t)1 << 46) - 1));
	for (int line = 0; line < RECORD_LINES; line++)
		__builtin_prefetch(p + 64 * line);
}

/* Record i of the task that is [first, end), or mirrored in it. */
static size_t place_of(const struct zr_gather *g, size_t first, size_t end,
		       size_t i)
{
	return g->down ? end - 1 - (i - first) : i;
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

/* How many records from the one at `i` on, before `end`, lie one after the
 * other in a file that is read; and, of more than one, read them. Returns false
 * if that fails. */
static bool read_run(const struct zr_gather *g, size_t i, size_t end,
		     size_t *count)
{
	const struct zr_container *c = g->r->c;
	size_t width = (size_t)c->meta.record_bytes, n = 0;
	uint64_t first = g->ids[i], from = 0;
	struct zr_entry e;

	for (; i + n < end && g->ids[i + n] == first + n; n++) {
		if (zr_locate(c, first + n, &e, NULL))
			break;
		if (!n)
			from = e.offset;
		else if (e.offset != from + n * width)
			break;
	}
	*count = n < 2 ? 0 : n;
	return !*count ||
	       !zr_pread(c->data_fd, g->dst + i * width, n * width, from);
}

/* Records of a gather in order come by one system call. Returns how many were
 * read and are right. If some are not, all go one by one from then on, which
 * tells what is wrong with which: the rest would be read again for each. */
static size_t dense_run(struct zr_gather *g, struct zr_lane *lane, size_t i,
			size_t end)
{
	const struct zr_container *c = g->r->c;
	size_t width = (size_t)c->meta.record_bytes, n;

	if (g->apart || g->one != dense_one || c->meta.codec != ZR_RAW ||
	    c->data.bytes || i + 1 >= end || g->ids[i + 1] != g->ids[i] + 1)
		return 0;
	if (!read_run(g, i, end, &n)) {
		g->apart = true;
		return 0;
	}
	for (size_t k = 0; k < n; k++) {
		if (zr_compare(c, lane, g->ids[i + k], g->dst + (i + k) * width,
			       width, NULL)) {
			g->apart = true;
			return k;
		}
	}
	return n;
}

/* The records of a task that *next and later stand for. *next always tells
 * which one is being read, in case it faults. */
static int gather_span(struct zr_gather *g, struct zr_lane *lane, size_t first,
		       size_t end, volatile size_t *next)
{
	struct zr_error err;

	for (size_t k = *next; k < end; *next = ++k) {
		size_t i = place_of(g, first, end, k), n;
		int rc;

		/* Only an earlier record can still change the result. */
		if (i >
		    atomic_load_explicit(&g->failed_at, memory_order_relaxed))
			continue;
		n = dense_run(g, lane, i, end);
		if (n) {
			k += n - 1;
			continue;
		}
		prefetch(g, i);
		rc = g->one(g, lane, i, &err);
		if (rc)
			keep_error(g, i, rc, &err);
	}
	return 0;
}

static int faulted(struct zr_gather *g, size_t i)
{
	struct zr_error err;
	int rc = zr_fault(g->r->c, g->ids[i], &err);

	keep_error(g, i, rc, &err);
	return rc;
}

/* Keep the disk busy with what comes after `end`. Under the lock: a thread
 * that went on to records which are not asked for yet would fault them in one
 * by one, each with its surroundings. */
static void ask_ahead(struct zr_gather *g, size_t end)
{
	size_t to;

	pthread_mutex_lock(&g->lock);
	to = g->count - end < g->ahead ? g->count : end + g->ahead;
	if (to > g->asked) {
		zr_ask(g->r->c, g->ids + g->asked, to - g->asked);
		g->asked = to;
	}
	pthread_mutex_unlock(&g->lock);
}

/* The executor for a gather of so many bytes; NULL: not worth it. */
static struct zr_executor *worth_sharing(const struct zr_gather *g,
					 uint64_t bytes, uint64_t alone)
{
	struct zr_executor *ex = g->r->ex;

	if (!ex || bytes < alone)
		return NULL;
	return bytes >= ASLEEP * alone || zr_executor_warm(ex) ? ex : NULL;
}

static void gather_task(void *ctx, unsigned lane, size_t task)
{
	struct zr_gather *g = ctx;
	size_t first, end;
	volatile size_t next;
	int rc;

	zr_split_span(&g->split, task, &first, &end);
	next = first;
	g->r->lane[lane].stream = g->stream;
	if (g->ahead)
		ask_ahead(g, end);
	while (next < end) {
		ZR_GUARDED(g->r->c, rc,
			   gather_span(g, &g->r->lane[lane], first, end, &next),
			   faulted(g, place_of(g, first, end, next)));
		if (rc)
			next = next + 1;
	}
	g->r->lane[lane].stream = false;
}

int zr_gather_all(struct zr_gather *g, uint64_t bytes)
{
	bool raw = g->r->c->meta.codec == ZR_RAW;
	uint64_t each = g->count ? bytes / g->count : 0;
	uint64_t task_bytes = raw ? TASK_RAW : TASK_ENCODED;
	uint64_t alone = raw ? ALONE_RAW : ALONE_ENCODED;
	bool watched = g->count >= WATCHED_COUNT || bytes >= WATCHED_BYTES;
	struct zr_executor *ex = worth_sharing(g, bytes, alone);
	uint64_t io = 0;

	if (!g->count)
		return 0;
	g->stream = bytes >= ZR_STREAM_BATCH;
	atomic_init(&g->apart, false);
	if (!g->run)
		g->run = each < task_bytes
				 ? (size_t)(task_bytes / (each + 1)) + 1
				 : 1;
	g->split = (struct zr_split){
		.count = g->count,
		.run = g->run,
		.places = g->out ? g->out->offsets : NULL,
		.width = each,
	};
	if (raw)
		zr_split_fresh(&g->split, g->dst, bytes,
			       zr_executor_threads(ex));
	atomic_init(&g->failed_at, SIZE_MAX);
	g->code = 0;
	pthread_mutex_init(&g->lock, NULL);
	if (watched)
		io = zr_thread_io();
	if (watched && zr_is_cold(g->r->c))
		g->ahead = (size_t)(AHEAD_BYTES / (each + 1)) + 1;
	zr_executor_run(ex, zr_split_tasks(&g->split), gather_task, g);
	if (bytes >= alone)
		zr_executor_touch(g->r->ex);
	if (watched)
		zr_saw_io(g->r->c, zr_thread_io() - io, bytes);
	pthread_mutex_destroy(&g->lock);
	return zr_unless_cut(g->code, g->r->c, g->ids, g->count, g->err);
}

int zr_gather_dense(struct zr_reader *r, const uint64_t *ids, size_t count,
		    void *dst, size_t size, struct zr_error *err)
{
	struct zr_gather g = { .r = r,
			       .ids = ids,
			       .count = count,
			       .one = dense_one,
			       .dst = dst,
			       .err = err };
	uint64_t bytes;

	if (r->c->meta.kind != ZR_DENSE)
		return zr_fail(err, -EINVAL, r->c->path,
			       "is Ragged: gather it with zr_gather_ragged");
	if (!zr_mul(count, r->c->meta.record_bytes, &bytes) || bytes > size)
		return zr_fail_at(
			err, -EINVAL, r->c->path,
			(struct zr_facts){ ZR_NONE, ZR_NONE, size, ZR_NONE },
			"the buffer of %zu bytes is too small for "
			"%zu records of %llu",
			size, count,
			(unsigned long long)r->c->meta.record_bytes);
	return zr_gather_all(&g, bytes);
}
