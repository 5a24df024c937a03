/* SPDX-License-Identifier: BSD-2-Clause
 * The pipeline of the loader, with threads: meant for MODE=tsan and asan.
 * Returns 0, or 1 after saying what failed.
 *
 *     loader_pipeline [SECONDS]    time for the random part, default 3 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../unit/scratch.h"
#include "zloader.h"

enum { records = 203, words = 8 };

static struct scratch dir;
static struct zr_container *dense, *ragged, *other, *damaged;
static int failures;

#define CHECK(cond, ...)                                                       \
	do {                                                                   \
		if (!(cond)) {                                                 \
			printf("%s:%d: %s: ", __FILE__, __LINE__, #cond);      \
			printf(__VA_ARGS__);                                   \
			putchar('\n');                                         \
			failures++;                                            \
		}                                                              \
	} while (0)
#define MUST(call)                                                             \
	do {                                                                   \
		int must_rc = (call);                                          \
		if (must_rc) {                                                 \
			printf("%s:%d: %s: %d\n", __FILE__, __LINE__, #call,   \
			       must_rc);                                       \
			exit(1);                                               \
		}                                                              \
	} while (0)

/* ---- Containers: every value tells its record ---- */

static const struct zr_dtype u4 = { "<u4", 'u', '<', 4 };

static void make_dense(const char *path, uint32_t count, enum zr_codec codec)
{
	struct zr_create_options opt = ZR_CREATE_OPTIONS_INIT;
	struct zr_shape shape = { 1, { words } };
	struct zr_writer *w;
	uint32_t item[words];

	opt.codec = codec;
	MUST(zr_create(&w, path, ZR_DENSE, &u4, &shape, &opt, NULL));
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t j = 0; j < words; j++)
			item[j] = i * 1000 + j;
		MUST(zr_append_dense(w, item, 1, NULL));
	}
	MUST(zr_publish(w, NULL));
}

static uint32_t ragged_items(uint64_t id)
{
	return (uint32_t)(1 + id * 7 % 50);
}

static void make_ragged(const char *path)
{
	struct zr_writer *w;

	MUST(zr_create(&w, path, ZR_RAGGED, &u4, NULL, NULL, NULL));
	for (uint32_t i = 0; i < records; i++) {
		uint32_t item[64], n = ragged_items(i);
		uint64_t dims[1] = { n }, offsets[2] = { 0, n * 4 };
		uint64_t dim_offsets[2] = { 0, 1 };
		struct zr_ragged b = { .count = 1,
				       .offsets = offsets,
				       .values = (unsigned char *)item,
				       .dims = dims,
				       .dim_offsets = dim_offsets };

		for (uint32_t j = 0; j < n; j++)
			item[j] = i * 1000 + j;
		MUST(zr_append_ragged(w, &b, NULL));
	}
	MUST(zr_publish(w, NULL));
}

/* Ruin the table entries of records 5 and 77. */
static void damage(const char *path)
{
	char meta[700];
	FILE *f;

	snprintf(meta, sizeof(meta), "%s/meta.zr", path);
	f = fopen(meta, "r+");
	if (!f)
		exit(1);
	fseek(f, 4096 + 16 * 5, SEEK_SET);
	fwrite("\xff\xff\xff\xff\xff\xff\xff\x7f", 8, 1, f);
	fseek(f, 4096 + 16 * 77, SEEK_SET);
	fwrite("\xff\xff\xff\xff\xff\xff\xff\x7f", 8, 1, f);
	fclose(f);
}

static void make_containers(void)
{
	const char *p;

	scratch_make(&dir);
	make_dense(scratch_path(&dir, "dense"), records, ZR_RAW);
	make_dense(scratch_path(&dir, "other"), records + 1, ZR_RAW);
	make_dense(scratch_path(&dir, "damaged"), records, ZR_ZSTD);
	make_ragged(scratch_path(&dir, "ragged"));
	damage(scratch_path(&dir, "damaged"));
	p = scratch_path(&dir, "dense");
	MUST(zr_open(&dense, p, NULL, NULL));
	MUST(zr_open(&other, scratch_path(&dir, "other"), NULL, NULL));
	MUST(zr_open(&damaged, scratch_path(&dir, "damaged"), NULL, NULL));
	MUST(zr_open(&ragged, scratch_path(&dir, "ragged"), NULL, NULL));
}

/* ---- Batches ---- */

/* The output: the first word of the record, and the id. */
static const struct zl_output outputs[] = {
	{ "sum", { "<u8", 'u', '<', 8 }, { 1, { 2 } } }
};

struct counted {
	atomic_uint calls;
	unsigned fail_at; /* step */
	unsigned delay_us;
};

static int transform(void *ctx, struct zl_batch *b)
{
	struct counted *c = ctx;
	uint64_t *out = (uint64_t *)(void *)b->array[b->arrays - 1].data;
	const uint32_t *in = (const uint32_t *)(const void *)b->array[0].data;

	atomic_fetch_add(&c->calls, 1);
	if (c->delay_us)
		usleep(c->delay_us);
	for (size_t i = 0; i < b->count; i++) {
		out[2 * i] = in[i * words];
		out[2 * i + 1] = b->ids[i];
	}
	return c->fail_at && b->step == c->fail_at ? -EDOM : 0;
}

static void check_ragged(const struct zl_array *a, const struct zl_batch *b)
{
	for (size_t i = 0; i < b->count; i++) {
		uint32_t n = ragged_items(b->ids[i]), first;

		memcpy(&first, a->data + a->offsets[i], 4);
		CHECK(a->offsets[i + 1] - a->offsets[i] == n * 4 &&
			      a->dims[a->dim_offsets[i]] == n &&
			      first == b->ids[i] * 1000,
		      "step %" PRIu64 " record %" PRIu64, b->step, b->ids[i]);
	}
}

static void check_batch(const struct zl_batch *b)
{
	for (size_t s = 0; s < b->arrays; s++) {
		const struct zl_array *a = &b->array[s];

		if (a->kind == ZR_RAGGED) {
			check_ragged(a, b);
			continue;
		}
		CHECK(a->shape.dims[0] == b->count, "shape");
		CHECK((uintptr_t)a->data % 4096 == 0, "page");
		for (size_t i = 0; i < b->count; i++) {
			uint64_t want = b->ids[i] * 1000, got = 0;

			if (a->dtype.itemsize == 8)
				memcpy(&got, a->data + i * 16, 8);
			else
				memcpy(&got, a->data + i * words * 4, 4);
			CHECK(got == want, "%s: step %" PRIu64 " slot %zu",
			      a->name, b->step, i);
		}
	}
}

static struct zl_options options(struct counted *c)
{
	struct zl_options o = ZL_OPTIONS_INIT;

	o.sampling.batch = 16;
	o.sampling.seed = 9;
	o.threads = 2;
	if (c) {
		o.transform = transform;
		o.transform_ctx = c;
		o.transform_threads = 3;
		o.output = outputs;
		o.outputs = 1;
	}
	return o;
}

static struct zl_loader *open_loader(struct zl_options o)
{
	struct zl_stream s[] = { { "dense", dense }, { "ragged", ragged } };
	struct zl_loader *l;
	struct zl_error e;
	int rc = zl_open(&l, s, 2, &o, &e);

	if (rc) {
		printf("zl_open: %s\n", e.message);
		exit(1);
	}
	return l;
}

static struct zl_batch *next(struct zl_loader *l)
{
	struct zl_batch *b;
	struct zl_error e;
	int rc = zl_next(l, &b, &e);

	if (rc) {
		printf("zl_next: %d %s\n", rc, e.message);
		exit(1);
	}
	return b;
}

static uint64_t digest(const struct zl_batch *b)
{
	uint64_t h = b->step;

	for (size_t i = 0; i < b->count; i++)
		h = h * 1000003 + b->ids[i];
	return h;
}

/* ---- Cases ---- */

static void delivers_in_order(void)
{
	struct counted c = { 0 };
	struct zl_loader *l = open_loader(options(&c));
	uint64_t seen[records] = { 0 };

	for (uint64_t k = 0; k < 130; k++) {
		struct zl_batch *b = next(l);

		CHECK(b->step == k && b->epoch == k / 13, "%" PRIu64, b->step);
		check_batch(b);
		for (size_t i = 0; i < b->count; i++)
			seen[b->ids[i]]++;
		zl_return(b);
	}
	for (size_t i = 0; i < records; i++)
		CHECK(seen[i] == 10, "record %zu: %" PRIu64, i, seen[i]);
	zl_close(&l);
	zl_close(&l);
	CHECK(!l, "closed");
}

static void delivers_all_unordered(void)
{
	struct counted c = { .delay_us = 200 };
	struct zl_options o = options(&c);
	uint64_t sum = 0;
	struct zl_loader *l;

	o.flags = ZL_UNORDERED;
	l = open_loader(o);
	for (uint64_t k = 0; k < 100; k++) {
		struct zl_batch *b = next(l);

		check_batch(b);
		CHECK(b->step < k + o.ring, "step");
		sum += b->step;
		zl_return(b);
	}
	CHECK(sum >= 99 * 100 / 2 && sum < 99 * 100 / 2 + 400, "sum");
	zl_close(&l);
}

static void names_the_odd_stream(void)
{
	struct zl_stream s[] = { { "a", dense },
				 { "odd", other },
				 { "c", ragged } };
	struct zl_loader *l;
	struct zl_error e;

	CHECK(zl_open(&l, s, 3, NULL, &e) == -EINVAL && !l, "odd");
	CHECK(!strcmp(e.stream, "odd"), "%s", e.message);
	s[1].name = "a";
	s[1].container = dense;
	CHECK(zl_open(&l, s, 3, NULL, &e) == -EINVAL, "twice");
	CHECK(zl_open(&l, s, 0, NULL, &e) == -EINVAL, "none");
}

static void holds_batches_beyond_close(void)
{
	struct counted c = { 0 };
	struct zl_loader *l = open_loader(options(&c));
	struct zl_dl_managed *t[4], *none;
	struct zl_batch *a = next(l), *b = next(l);

	MUST(zl_dlpack(a, 0, ZL_DATA, &t[0]));
	MUST(zl_dlpack(a, 1, ZL_DATA, &t[1]));
	MUST(zl_dlpack(a, 1, ZL_DIMS, &t[2]));
	MUST(zl_dlpack(a, 0, ZL_IDS, &t[3]));
	CHECK(t[0]->tensor.ndim == 2 && t[0]->tensor.shape[0] == 16 &&
		      t[0]->tensor.shape[1] == words &&
		      t[0]->tensor.dtype.code == 1 &&
		      t[0]->tensor.dtype.bits == 32,
	      "dense tensor");
	CHECK(t[2]->tensor.shape[0] == 16, "dims");
	CHECK(zl_dlpack(a, 9, ZL_DATA, &none) == -EINVAL && !none, "array");
	CHECK(zl_dlpack(a, 0, ZL_DIMS, &none) == -EINVAL, "part");
	zl_close(&l);
	check_batch(a);
	check_batch(b);
	zl_return(a);
	CHECK(*(uint64_t *)t[3]->tensor.data < records, "ids");
	zl_return(b);
	for (int i = 3; i >= 0; i--)
		t[i]->deleter(t[i]);
}

static void stops_at_a_bad_record(void)
{
	struct zl_stream s[] = { { "good", dense }, { "bad", damaged } };
	struct zl_options o = options(NULL);
	struct zl_loader *l;
	struct zl_batch *b;
	struct zl_error e;
	const uint64_t *ids;

	o.sampling.order = ZL_SEQUENTIAL;
	MUST(zl_open(&l, s, 2, &o, NULL));
	CHECK(zl_next(l, &b, &e) == -EBADMSG && !b, "stop");
	CHECK(e.record == 5 && e.step == 0 && !strcmp(e.stream, "bad"), "%s",
	      e.message);
	CHECK(zl_failed_ids(l, &ids) == 16 && ids[5] == 5, "ids");
	CHECK(zl_next(l, &b, &e) == -EBADMSG, "again");
	MUST(zl_seek(l, 1));
	b = next(l);
	check_batch(b);
	zl_return(b);
	zl_close(&l);
}

static void skips_bad_records(void)
{
	struct zl_stream s[] = { { "good", dense }, { "bad", damaged } };
	struct zl_options o = options(NULL);
	struct zl_loader *l;
	struct zl_stats st;
	char text[1024];
	size_t total = 0;

	o.flags = ZL_SKIP | ZL_PIN;
	MUST(zl_open(&l, s, 2, &o, NULL));
	for (int k = 0; k < 13; k++) {
		struct zl_batch *b = next(l);

		check_batch(b);
		total += b->count;
		zl_return(b);
	}
	zl_stats(l, &st);
	CHECK(total == records - 2 && st.skipped >= 2, "%zu", total);
	zl_stats_text(&st, text, sizeof(text));
	CHECK(strstr(text, "13 batches"), "%s", text);
	zl_close(&l);
}

static void reports_a_failing_transform(void)
{
	struct counted c = { .fail_at = 20 };
	struct zl_options o = options(&c);
	struct zl_loader *l = open_loader(o);
	struct zl_batch *b;
	struct zl_error e;

	for (uint64_t k = 0; k < 20; k++)
		zl_return(next(l));
	CHECK(zl_next(l, &b, &e) == -EDOM && e.step == 20, "step %" PRIu64,
	      e.step);
	zl_close(&l);
	o.flags = ZL_SKIP;
	l = open_loader(o);
	for (uint64_t k = 0; k < 30; k++) {
		b = next(l);
		CHECK(b->count == (k == 20        ? 0
				   : k % 13 == 12 ? 11u
						  : 16u),
		      "step %" PRIu64 ": %zu", k, b->count);
		check_batch(b);
		zl_return(b);
	}
	zl_close(&l);
}

/* Fails at one step, or gives an id that is none. */
struct index {
	atomic_uint calls;
	atomic_int bad_at; /* step, or -1 */
	int rc;
};

static int backwards(void *ctx, uint64_t n, uint64_t step, uint64_t first,
		     size_t count, uint64_t *ids)
{
	struct index *x = ctx;
	bool bad = (int64_t)step == atomic_load(&x->bad_at);

	atomic_fetch_add(&x->calls, 1);
	for (size_t i = 0; i < count; i++)
		ids[i] = n - 1 - (step * 16 + first + i) % n;
	if (bad && !x->rc)
		ids[count - 1] = n;
	return bad ? x->rc : 0;
}

/* Steps are drawn before their turn, but an error comes at its step. */
static void reports_a_failing_index(int rc)
{
	struct zl_options o = options(NULL);
	struct zl_state state;
	struct zl_loader *l;
	struct zl_batch *b;
	struct zl_error e;

	o.sampling.order = ZL_CALLER;
	o.sampling.index = backwards;
	for (int at = 0; at < 9; at++) {
		struct index x = { .bad_at = at, .rc = rc };
		const uint64_t *ids;

		o.sampling.index_ctx = &x;
		l = open_loader(o);
		for (int k = 0; k < at; k++) {
			b = next(l);
			CHECK(b->step == (uint64_t)k &&
				      b->ids[0] ==
					      records - 1u - (unsigned)k * 16,
			      "step %d", k);
			check_batch(b);
			zl_return(b);
		}
		CHECK(zl_next(l, &b, &e) == (rc ? rc : -ERANGE), "%d", e.code);
		CHECK(e.step == (uint64_t)at &&
			      e.record == (rc ? ZL_NONE : records),
		      "step %" PRIu64, e.step);
		CHECK(!zl_failed_ids(l, &ids), "ids of a step not drawn");
		CHECK(atomic_load(&x.calls) == (unsigned)at + 1, "%u calls",
		      atomic_load(&x.calls));
		zl_save(l, &state);
		CHECK(state.step == (uint64_t)at, "%" PRIu64, state.step);
		atomic_store(&x.bad_at, -1);
		MUST(zl_restore(l, &state, NULL));
		for (int k = at; k < at + 5; k++) {
			b = next(l);
			CHECK(b->step == (uint64_t)k, "step %" PRIu64, b->step);
			check_batch(b);
			zl_return(b);
		}
		zl_close(&l);
	}
}

static void bounds_the_bytes_of_the_ring(void)
{
	struct zl_options o = options(NULL);
	struct zl_stats st;
	struct zl_loader *l;

	o.ring = 8;
	o.ring_bytes = 8 * 4096 + 3 * 8192;
	l = open_loader(o);
	for (int k = 0; k < 300; k++) {
		struct zl_batch *a = next(l), *b = next(l);

		check_batch(a);
		check_batch(b);
		zl_return(a);
		zl_return(b);
		zl_stats(l, &st);
		CHECK(st.ring_bytes <= o.ring_bytes, "%" PRIu64, st.ring_bytes);
	}
	zl_close(&l);
	o.ring_bytes = 1;
	l = open_loader(o);
	for (int k = 0; k < 30; k++)
		zl_return(next(l));
	zl_close(&l);
}

/* Save at random, restore at random, with other threads, rings and worlds. */
static void restores_anywhere(uint64_t seed)
{
	static uint64_t want[200];
	static struct zl_state state[200];
	struct counted c = { 0 };
	struct zl_options o = options(&c);
	struct zl_loader *l;

	o.sampling.order = (enum zl_order)(seed % 5);
	o.sampling.window = 40;
	l = open_loader(o);
	for (int k = 0; k < 200; k++) {
		struct zl_batch *b;

		zl_save(l, &state[k]);
		b = next(l);
		want[k] = digest(b);
		zl_return(b);
	}
	for (int walk = 0; walk < 25; walk++) {
		uint64_t k = (seed = seed * 6364136223846793005u + 1) >> 33;

		k %= 180;
		if (walk % 5 == 4) {
			zl_close(&l);
			o.ring = 2 + (unsigned)(seed >> 20) % 6;
			o.transform_threads = 1 + (unsigned)(seed >> 9) % 3;
			o.threads = 1 + (unsigned)(seed >> 11) % 3;
			l = open_loader(o);
		}
		MUST(zl_restore(l, &state[k], NULL));
		for (int i = 0; i < 10; i++) {
			struct zl_batch *b = next(l);

			CHECK(b->step == k && digest(b) == want[k],
			      "step %" PRIu64, k);
			k++;
			zl_return(b);
		}
	}
	zl_close(&l);
}

static void refuses_states_of_other_containers(void)
{
	struct zl_stream s[] = { { "dense", dense } };
	struct zl_options o = options(NULL);
	struct zl_loader *l = open_loader(o), *m;
	struct zl_state state;
	struct zl_error e;

	MUST(zl_open(&m, s, 1, &o, NULL));
	zl_save(m, &state);
	zl_close(&m);
	zl_return(next(l));
	CHECK(zl_restore(l, &state, &e) == -ESTALE, "stale");
	CHECK(strstr(e.message, "containers"), "%s", e.message);
	struct zl_batch *b = next(l);

	CHECK(b->step == 1, "stays");
	zl_return(b);
	zl_close(&l);
}

struct waiter {
	struct zl_loader *l;
	atomic_uint *held; /* by all waiters */
	int rc;
};

/* Keep all batches until the ring is empty and zl_next waits. */
static void *wait_for_ever(void *arg)
{
	struct waiter *w = arg;
	struct zl_batch *b[8];
	int n = 0;

	while (!(w->rc = zl_next(w->l, &b[n], NULL))) {
		atomic_fetch_add(w->held, 1);
		n++;
	}
	/* Also after zl_close, whose memory goes with the last of these. */
	while (n)
		zl_return(b[--n]);
	return NULL;
}

static void closes_while_others_wait(bool stop)
{
	for (int i = 0; i < 10; i++) {
		struct counted c = { .delay_us = 100 };
		struct zl_loader *l = open_loader(options(&c));
		atomic_uint held = 0;
		struct waiter w[3];
		pthread_t t[3];

		for (int j = 0; j < 3; j++) {
			w[j] = (struct waiter){ l, &held, 0 };
			MUST(pthread_create(&t[j], NULL, wait_for_ever, &w[j]));
		}
		while (!stop && atomic_load(&held) < 4)
			usleep(100);
		usleep(stop ? (useconds_t)(i * 300) : 20000);
		if (stop)
			zl_stop(l);
		else
			zl_close(&l);
		for (int j = 0; j < 3; j++) {
			pthread_join(t[j], NULL);
			CHECK(w[j].rc == -ECANCELED, "%d", w[j].rc);
		}
		if (stop) {
			MUST(zl_seek(l, 3));
			zl_return(next(l));
		}
		zl_close(&l);
	}
}

static void closes_at_any_moment(double seconds)
{
	uint64_t seed = 12345;
	time_t end = time(NULL) + (time_t)seconds;

	while (time(NULL) <= end && !failures) {
		struct counted c = { 0 };
		struct zl_loader *l;
		unsigned n;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		c.delay_us = (unsigned)(seed >> 40) % 50;
		l = open_loader(options(&c));
		n = (unsigned)(seed >> 50) % 8;
		for (unsigned i = 0; i < n; i++) {
			struct zl_batch *b = next(l);

			check_batch(b);
			zl_return(b);
		}
		if (seed >> 63)
			usleep((useconds_t)(seed >> 30) % 300);
		zl_close(&l);
	}
}

/* ---- Calls from several threads at once ---- */

struct shared {
	struct zl_loader *l;
	atomic_bool over;
};

static void *read_on(void *arg)
{
	struct shared *s = arg;

	while (!atomic_load(&s->over)) {
		struct zl_batch *b;
		int rc = zl_next(s->l, &b, NULL);

		CHECK(!rc || rc == -ECANCELED, "%d", rc);
		if (rc)
			continue;
		check_batch(b);
		zl_return(b);
	}
	return NULL;
}

static void *move_about(void *arg)
{
	struct shared *s = arg;

	for (unsigned i = 0; !atomic_load(&s->over); i++) {
		struct zl_stats stats;
		struct zl_state state;
		const uint64_t *ids;
		int rc = 0;

		zl_save(s->l, &state);
		zl_stats(s->l, &stats);
		zl_failed_ids(s->l, &ids);
		if (i % 3 == 0)
			zl_stop(s->l);
		if (i % 3 < 2)
			rc = i % 2 ? zl_seek(s->l, i)
				   : zl_restore(s->l, &state, NULL);
		CHECK(!rc || rc == -EBUSY, "%d", rc);
	}
	return NULL;
}

static void bears_all_calls_at_once(void)
{
	struct counted c = { 0 };
	struct shared s = { open_loader(options(&c)), false };
	pthread_t t[6];

	for (int i = 0; i < 6; i++)
		MUST(pthread_create(&t[i], NULL, i < 3 ? read_on : move_about,
				    &s));
	sleep(2);
	atomic_store(&s.over, true);
	for (int i = 0; i < 6; i++)
		pthread_join(t[i], NULL);
	zl_close(&s.l);
}

static int child_status(pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void survives_fork(void)
{
	struct counted c = { 0 };
	struct zl_loader *l = open_loader(options(&c));
	struct zl_batch *b;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		/* Not started in the parent: all of it works here. */
		alarm(60);
		for (int i = 0; i < 20; i++)
			zl_return(next(l));
		zl_close(&l);
		_exit(failures != 0);
	}
	CHECK(child_status(pid) == 0, "child before start");
	b = next(l);
	pid = fork();
	if (!pid) {
		struct zl_batch *x;
		struct zl_state s;

		alarm(60);
		zl_return(b);
		zl_save(l, &s);
		if (zl_next(l, &x, NULL) != -ECHILD || s.step != 1)
			_exit(1);
		zl_stop(l);
		zl_close(&l);
		_exit(0);
	}
	CHECK(child_status(pid) == 0, "child after start");
	zl_return(b);
	for (int i = 0; i < 20; i++)
		zl_return(next(l));
	zl_close(&l);
}

static long rss_kib(void)
{
	long pages = 0, rss = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%ld %ld", &pages, &rss) != 2)
		rss = 0;
	if (f)
		fclose(f);
	return rss * 4;
}

/* AddressSanitizer keeps freed blocks for a while instead of giving them to
 * the next who asks. */
#if defined(__SANITIZE_ADDRESS__)
#define RSS_ROOM_KIB 16384
#else
#define RSS_ROOM_KIB 1024
#endif

static void keeps_memory_flat(int steps)
{
	struct counted c = { 0 };
	struct zl_loader *l = open_loader(options(&c));
	long before = 0;

	for (int k = 0; k < steps; k++) {
		zl_return(next(l));
		if (k == steps / 10)
			before = rss_kib();
	}
	CHECK(rss_kib() - before < RSS_ROOM_KIB, "%ld KiB more",
	      rss_kib() - before);
	zl_close(&l);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 3;

	make_containers();
	delivers_in_order();
	delivers_all_unordered();
	names_the_odd_stream();
	stops_at_a_bad_record();
	skips_bad_records();
	reports_a_failing_transform();
	reports_a_failing_index(-EDOM);
	reports_a_failing_index(0);
	bounds_the_bytes_of_the_ring();
	for (uint64_t s = 0; s < 5; s++)
		restores_anywhere(s);
	refuses_states_of_other_containers();
	holds_batches_beyond_close();
	closes_while_others_wait(true);
	closes_while_others_wait(false);
	bears_all_calls_at_once();
	survives_fork();
	closes_at_any_moment(seconds);
	keeps_memory_flat(100000);
	zr_close(dense);
	zr_close(ragged);
	zr_close(other);
	zr_close(damaged);
	scratch_remove(&dir);
	if (!failures)
		puts("loader_pipeline: ok");
	return failures != 0;
}
