/* SPDX-License-Identifier: BSD-2-Clause
 * The engine used by many threads at once: gathers, openings, runs, appends,
 * forks, files that are cut. Meant for MODE=tsan and asan as well. Returns 0,
 * or 1 after saying what failed.
 *
 *     engine_threads [SECONDS [SEED]]    of gathers; default 8, and 1 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../unit/scratch.h"
#include "engine_data.h"

/* A child of a process with threads has the sanitizers' locks as they were:
 * there the other threads stand still for the fork. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { FORKS_AMID = false };
#else
enum { FORKS_AMID = true };
#endif

enum { RECORDS = 4000, GATHERERS = 16, MOST = 300, PLACES = 3 };

static const enum zr_placement places[PLACES] = { ZR_PLACE_MAP,
						  ZR_PLACE_RESIDENT,
						  ZR_PLACE_READ };

static struct scratch dir;
static char paths[KINDS][640];
static struct zr_container *open_ones[KINDS][PLACES];
static struct zr_executor *executors[3]; /* NULL, and two that all share */
static pthread_rwlock_t calm;            /* held to read while working */
static atomic_bool stop;
static uint64_t seed0;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void make_containers(void)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;

	for (int k = 0; k < KINDS; k++) {
		snprintf(paths[k], sizeof(paths[k]), "%s/%s", dir.dir,
			 data_kinds[k].name);
		data_build(paths[k], &data_kinds[k], RECORDS, executors[2]);
		for (int p = 0; p < PLACES; p++) {
			opt.placement = places[p];
			opt.flags = p == 1 ? ZR_OPEN_CHECK : 0;
			MUST(zr_open(&open_ones[k][p], paths[k], &opt, NULL));
		}
	}
}

/* ---- A thread that reads ------------------------------------------------- */

struct hand {
	uint64_t random;
	unsigned char *dst;
	struct zr_ragged kept;
	uint64_t ids[MOST];
	size_t count;
};

static void hand_make(struct hand *h, uint64_t seed)
{
	memset(h, 0, sizeof(*h));
	h->random = seed0 * 1000003 + seed;
	h->dst = room(MOST * ITEM_BYTES);
}

static void hand_free(struct hand *h)
{
	zr_ragged_free(&h->kept);
	free(h->dst);
}

static unsigned pick(struct hand *h, unsigned n)
{
	return (unsigned)(draw(&h->random) >> 33) % n;
}

/* Anywhere, in a row, or one again and again. */
static void pick_ids(struct hand *h)
{
	uint64_t first = pick(h, RECORDS);
	unsigned how = pick(h, 4);

	h->count = pick(h, 3) ? pick(h, MOST) : pick(h, 8);
	for (size_t i = 0; i < h->count; i++)
		h->ids[i] = how > 1    ? pick(h, RECORDS)
			    : how == 1 ? (first + i) % RECORDS
				       : first;
}

static int gather_some(struct hand *h, struct zr_reader *r, enum zr_kind kind,
		       struct zr_error *err)
{
	pick_ids(h);
	return data_gather(r, kind, h->ids, h->count, h->dst, &h->kept, err);
}

static void read_one(struct hand *h, struct zr_reader *r, enum zr_kind kind)
{
	uint32_t id = pick(h, RECORDS);
	struct zr_shape shape, want;
	size_t words = item_shape(kind, id, &want), from, len;
	struct zr_error err;
	uint64_t bytes;
	int rc;

	rc = zr_read(r, id, h->dst, MOST * ITEM_BYTES, &bytes, &shape, &err);
	CHECK(rc == 0, "%s", err.message);
	CHECK(rc || data_right(kind, id, h->dst, bytes, &shape), "record %u",
	      id);
	rc = zr_record_shape(r, id, &shape, &bytes, &err);
	CHECK(rc == 0 && bytes == 4 * words && shape.rank == want.rank,
	      "shape of %u: %d", id, rc);
	from = 4 * (size_t)pick(h, (unsigned)words);
	len = 4 * words - from;
	rc = zr_read_part(r, id, from, h->dst + from, len, &err);
	CHECK(rc == 0, "%s", err.message);
	CHECK(rc || item_same(h->dst, id, words), "part of record %u", id);
	rc = zr_check(r, id, &err);
	CHECK(rc == 0, "%s", err.message);
}

/* Open, read and close what others have open, too. */
static void open_and_close(struct hand *h)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	unsigned k = pick(h, KINDS);
	struct zr_executor *ex = executors[pick(h, 3)];
	struct zr_container *c;
	struct zr_reader *r;
	struct zr_error err;
	int rc;

	opt.placement = places[pick(h, PLACES)];
	opt.flags = pick(h, 2) ? ZR_OPEN_CHECK : 0;
	rc = zr_open(&c, paths[k], &opt, &err);
	CHECK(rc == 0, "%s", err.message);
	if (rc)
		return;
	MUST(zr_reader_new(&r, c, ex));
	rc = gather_some(h, r, data_kinds[k].kind, &err);
	CHECK(rc == 0, "%s: %d", data_kinds[k].name, rc);
	zr_reader_free(r);
	zr_close(c);
}

static void *gather_on_and_on(void *arg)
{
	struct zr_reader *reader[KINDS][PLACES][3] = { 0 };
	atomic_uint *number = arg;
	struct zr_error err;
	struct hand h;
	int rc;

	hand_make(&h, atomic_fetch_add(number, 1));
	while (!atomic_load(&stop)) {
		unsigned k = pick(&h, KINDS), p = pick(&h, PLACES);
		unsigned e = pick(&h, 3), what = pick(&h, 20);
		struct zr_reader **r = &reader[k][p][e];

		pthread_rwlock_rdlock(&calm);
		if (!*r)
			MUST(zr_reader_new(r, open_ones[k][p], executors[e]));
		if (what == 0) {
			open_and_close(&h);
		} else if (what == 1) {
			zr_reader_free(*r);
			*r = NULL;
		} else if (what < 6) {
			read_one(&h, *r, data_kinds[k].kind);
		} else {
			rc = gather_some(&h, *r, data_kinds[k].kind, &err);
			CHECK(rc == 0, "%s, placement %d, executor %u: %d %s",
			      data_kinds[k].name, places[p], e, rc,
			      rc < 0 ? err.message : "wrong bytes");
		}
		pthread_rwlock_unlock(&calm);
	}
	for (int i = 0; i < KINDS * PLACES * 3; i++)
		zr_reader_free((&reader[0][0][0])[i]);
	hand_free(&h);
	return NULL;
}

/* ---- Forks --------------------------------------------------------------- */

static void add_one(void *ctx, unsigned lane, size_t task)
{
	(void)lane;
	(void)task;
	atomic_fetch_add((atomic_uint *)ctx, 1);
}

/* What zrecord.h promises a child: containers, readers and executors that
 * were there, and the writer that is not its own. */
static void be_a_child(struct hand *h, struct zr_reader *old[KINDS],
		       struct zr_writer *w)
{
	atomic_uint ran = 0;
	struct zr_error err;
	int rc;

	alarm(60);
	atomic_store(&failures, 0);
	zr_executor_run(executors[2], 100, add_one, &ran);
	CHECK(ran == 100, "%u tasks of a child's run", ran);
	for (int k = 0; k < KINDS; k++) {
		enum zr_kind kind = data_kinds[k].kind;

		rc = gather_some(h, old[k], kind, &err);
		CHECK(rc == 0, "a reader of the parent: %d", rc);
		read_one(h, old[k], kind);
		zr_reader_free(old[k]);
	}
	for (int i = 0; i < 4; i++)
		open_and_close(h);
	CHECK(data_append(w, ZR_DENSE, 0, 1, false, NULL) == -EINVAL,
	      "a child appends");
	zr_discard(w);
	zr_executor_free(executors[2]);
	fflush(stdout);
	_exit(atomic_load(&failures) != 0);
}

static void fork_one(struct hand *h, struct zr_reader *old[KINDS],
		     struct zr_writer *w)
{
	int status = 0;
	pid_t pid;

	if (!FORKS_AMID)
		pthread_rwlock_wrlock(&calm);
	fflush(stdout);
	pid = fork();
	if (!pid)
		be_a_child(h, old, w);
	if (!FORKS_AMID)
		pthread_rwlock_unlock(&calm);
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0,
	      "a child ends with status %x", (unsigned)status);
}

/* Threads gather and open as they like, and the process forks amid that. */
static void gathers_and_forks(double seconds)
{
	struct zr_reader *mine[KINDS];
	pthread_t t[GATHERERS];
	atomic_uint number = 1;
	struct zr_writer *w;
	double end = now() + seconds;
	struct zr_error err;
	struct hand h;
	unsigned forks = 0;

	hand_make(&h, 0);
	atomic_store(&stop, false);
	MUST(data_create(&w, scratch_path(&dir, "mine"), &data_kinds[0], NULL,
			 NULL));
	for (int k = 0; k < KINDS; k++)
		MUST(zr_reader_new(&mine[k], open_ones[k][k % PLACES],
				   executors[2]));
	for (int i = 0; i < GATHERERS; i++)
		MUST(pthread_create(&t[i], NULL, gather_on_and_on, &number));
	while (now() < end && !failures) {
		for (int k = 0; k < KINDS; k++)
			CHECK(gather_some(&h, mine[k], data_kinds[k].kind,
					  &err) == 0,
			      "before a fork");
		fork_one(&h, mine, w);
		forks++;
		usleep(20000);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < GATHERERS; i++)
		pthread_join(t[i], NULL);
	for (int k = 0; k < KINDS; k++)
		zr_reader_free(mine[k]);
	MUST(data_append(w, ZR_DENSE, 0, 1, false, NULL));
	MUST(zr_publish(w, NULL));
	CHECK(forks >= 2, "%u forks", forks);
	hand_free(&h);
}

/* ---- Runs of executors --------------------------------------------------- */

enum { RUN_TASKS = 300, LANES = 8 };

struct run {
	struct zr_executor *ex;
	atomic_uint done[RUN_TASKS];
	atomic_bool busy[LANES];
};

static void run_task(void *ctx, unsigned lane, size_t task)
{
	struct run *r = ctx;

	CHECK(lane < zr_executor_threads(r->ex), "lane %u", lane);
	CHECK(!atomic_exchange(&r->busy[lane], true), "lane %u is two", lane);
	atomic_fetch_add(&r->done[task], 1);
	for (volatile unsigned i = 0; i < task % 64 * 16; i++)
		;
	atomic_store(&r->busy[lane], false);
}

/* On the executors of all, and on one of its own, that lives for a run. */
static void *run_again_and_again(void *arg)
{
	struct zr_executor *own = NULL;
	struct run *r = room(sizeof(*r));
	uint64_t random = seed0 + atomic_fetch_add((atomic_uint *)arg, 1);

	for (int round = 0; round < 200; round++) {
		unsigned which = (unsigned)(draw(&random) >> 40) % 4;
		size_t tasks = draw(&random) % RUN_TASKS;

		memset(r, 0, sizeof(*r));
		if (which == 3)
			MUST(zr_executor_new(&own, 1 + (unsigned)tasks % 4));
		r->ex = which == 3 ? own : executors[which];
		zr_executor_run(r->ex, tasks, run_task, r);
		if (which == 3)
			zr_executor_free(own);
		for (size_t i = 0; i < RUN_TASKS; i++)
			CHECK(r->done[i] == (i < tasks), "task %zu of %zu: %u",
			      i, tasks, r->done[i]);
	}
	free(r);
	return NULL;
}

static void runs_at_once(void)
{
	atomic_uint number = 0;
	pthread_t t[8];

	for (int i = 0; i < 8; i++)
		MUST(pthread_create(&t[i], NULL, run_again_and_again, &number));
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}

/* ---- Appends ------------------------------------------------------------- */

enum { WRITERS = 8, BATCHES = 40, NUMBERS = 1 << 16 };

struct author {
	struct zr_writer *w;
	enum zr_kind kind;
	uint32_t number;
};

static size_t batch_size(uint32_t author, uint32_t batch)
{
	return 1 + (author * 31 + batch * 17) % 60;
}

/* Records of author a have the tags a * NUMBERS, and on. */
static void *append_all(void *arg)
{
	const struct author *a = arg;
	uint32_t tag = a->number * NUMBERS;
	struct zr_error err;

	for (uint32_t b = 0; b < BATCHES; b++) {
		size_t n = batch_size(a->number, b);
		int rc;

		if (a->kind == ZR_RAGGED && b % 7 == 0)
			CHECK(data_append(a->w, a->kind, tag, n, true, NULL) ==
				      -EINVAL,
			      "a record that does not fit its shape");
		rc = data_append(a->w, a->kind, tag, n, false, &err);
		CHECK(rc == 0, "%s", err.message);
		tag += (uint32_t)n;
	}
	return NULL;
}

/* Batches lie there whole, those of an author in the order of its calls. */
static void check_order(struct zr_container *c, enum zr_kind kind)
{
	uint32_t next[WRITERS] = { 0 }, batch[WRITERS] = { 0 };
	unsigned char buf[ITEM_BYTES + 64];
	uint64_t records = zr_info(c)->records, id = 0;
	struct zr_reader *r;
	struct zr_error err;

	MUST(zr_reader_new(&r, c, NULL));
	while (id < records && !failures) {
		uint32_t a = WRITERS;
		size_t n = 1;

		for (size_t i = 0; i < n && !failures; i++, id++) {
			struct zr_shape shape;
			uint64_t bytes;
			int rc = zr_read(r, id, buf, sizeof(buf), &bytes,
					 &shape, &err);

			CHECK(rc == 0, "%s", err.message);
			if (!i && !rc)
				a = item_tag(buf) / NUMBERS;
			CHECK(a < WRITERS && batch[a] < BATCHES, "author %u",
			      a);
			if (failures)
				break;
			n = batch_size(a, batch[a]);
			CHECK(data_right(kind, a * NUMBERS + next[a], buf,
					 bytes, &shape),
			      "record %" PRIu64 ": %x is not number %u of %u",
			      id, item_tag(buf), next[a], a);
			CHECK(zr_check(r, id, NULL) == 0, "its hash");
			next[a]++;
		}
		if (!failures)
			batch[a]++;
	}
	for (int a = 0; a < WRITERS && !failures; a++)
		CHECK(batch[a] == BATCHES, "author %d: %u batches", a,
		      batch[a]);
	zr_reader_free(r);
}

static void appends_at_once(const struct data_kind *k, struct zr_executor *ex)
{
	const char *path = scratch_path(&dir, "appended");
	struct author a[WRITERS];
	pthread_t t[WRITERS];
	struct zr_container *c;
	struct zr_writer *w;

	MUST(data_create(&w, path, k, ex, NULL));
	for (uint32_t i = 0; i < WRITERS; i++) {
		a[i] = (struct author){ w, k->kind, i };
		MUST(pthread_create(&t[i], NULL, append_all, &a[i]));
	}
	for (int i = 0; i < WRITERS; i++)
		pthread_join(t[i], NULL);
	MUST(zr_publish(w, NULL));
	MUST(zr_open(&c, path, NULL, NULL));
	check_order(c, k->kind);
	zr_close(c);
	nftw(path, scratch_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- Files that are cut -------------------------------------------------- */

struct cut {
	struct zr_container *c;
	enum zr_kind kind;
	enum zr_placement placement;
	atomic_uint number, right, failed;
};

/* A gather gives the right bytes or -EIO. The kernel may also read zeros
 * where a file is being cut under a read(2): a checksum sees those. */
static void *gather_what_is_cut(void *arg)
{
	struct cut *cut = arg;
	struct zr_reader *r;
	struct zr_error err;
	struct hand h;

	hand_make(&h, atomic_fetch_add(&cut->number, 1));
	MUST(zr_reader_new(&r, cut->c, executors[pick(&h, 3)]));
	while (!atomic_load(&stop)) {
		int rc = gather_some(&h, r, cut->kind, &err);
		bool asked = false;

		if (rc == 0) {
			atomic_fetch_add(&cut->right, 1);
			continue;
		}
		for (size_t i = 0; i < h.count; i++)
			asked |= err.record == h.ids[i];
		CHECK(rc == -EIO || (rc == -EBADMSG &&
				     cut->placement == ZR_PLACE_READ),
		      "%d %s", rc, rc < 0 ? err.message : "wrong bytes");
		CHECK(rc > 0 || asked, "no such id asked: %s", err.message);
		atomic_fetch_add(&cut->failed, 1);
	}
	zr_reader_free(r);
	hand_free(&h);
	return NULL;
}

/* At the edges of pages: within one, the rest of a mapped page reads as 0. */
static void cut_it(struct cut *cut, const char *path)
{
	const struct zr_info *info = zr_info(cut->c);
	long page = sysconf(_SC_PAGESIZE);
	unsigned char buf[ITEM_BYTES + 64];
	char data[700];
	struct zr_reader *r;
	int rc;

	snprintf(data, sizeof(data), "%s/data.zr", path);
	MUST(zr_reader_new(&r, cut->c, NULL));
	for (int part = 7; part >= 0; part--) {
		off_t size = (off_t)info->stored_bytes * part / 8 / page * page;

		usleep(3000);
		MUST(truncate(data, size));
		rc = zr_read(r, RECORDS - 1, buf, sizeof(buf), NULL, NULL,
			     NULL);
		CHECK(rc == (cut->placement == ZR_PLACE_RESIDENT ? 0 : -EIO),
		      "the last record, %d eighths left: %d", part, rc);
		rc = zr_check(r, 0, NULL);
		CHECK(rc == (part || cut->placement == ZR_PLACE_RESIDENT
				     ? 0
				     : -EIO),
		      "the first record, %d eighths left: %d", part, rc);
	}
	usleep(3000);
	zr_reader_free(r);
}

static void cut_while_gathered(const struct data_kind *k, enum zr_placement p)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	struct cut cut = { .kind = k->kind, .placement = p };
	char path[640];
	pthread_t t[8];

	snprintf(path, sizeof(path), "%s/cut", dir.dir);
	data_build(path, k, RECORDS, executors[2]);
	opt.placement = p;
	opt.flags = p == ZR_PLACE_READ ? ZR_OPEN_CHECK : 0;
	MUST(zr_open(&cut.c, path, &opt, NULL));
	atomic_store(&stop, false);
	for (int i = 0; i < 8; i++)
		MUST(pthread_create(&t[i], NULL, gather_what_is_cut, &cut));
	while (atomic_load(&cut.right) < 8 && !failures)
		usleep(200);
	cut_it(&cut, path);
	while (p != ZR_PLACE_RESIDENT && !atomic_load(&cut.failed) && !failures)
		usleep(200);
	atomic_store(&stop, true);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	CHECK(p != ZR_PLACE_RESIDENT || !atomic_load(&cut.failed), "%u",
	      cut.failed);
	zr_close(cut.c);
	nftw(path, scratch_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 8;
	pthread_rwlockattr_t attr;
	size_t len;

	seed0 = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(
		&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&calm, &attr);
	scratch_make(&dir);
	(void)data_dict(&len);
	MUST(zr_executor_new(&executors[1], 2));
	MUST(zr_executor_new(&executors[2], LANES));
	make_containers();
	runs_at_once();
	for (int k = 0; k < KINDS; k++)
		appends_at_once(&data_kinds[k], executors[k % 2 ? 2 : 1]);
	for (int k = 0; k < KINDS; k++)
		for (int p = 0; p < PLACES; p++)
			cut_while_gathered(&data_kinds[k], places[p]);
	gathers_and_forks(seconds);
	for (int i = 0; i < KINDS * PLACES; i++)
		zr_close((&open_ones[0][0])[i]);
	zr_executor_free(executors[1]);
	zr_executor_free(executors[2]);
	scratch_remove(&dir);
	if (!failures)
		puts("engine_threads: ok");
	return failures != 0;
}
