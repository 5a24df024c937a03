/* SPDX-License-Identifier: BSD-2-Clause
 * Every function of the loader from its own callbacks, from a child and from
 * several threads at once, and with what does not fit: it works or is refused,
 * as zloader.h says. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "make.h"
#include "scratch.h"
#include "zloader.h"

enum { records = 64, batch = 8 };

static struct scratch dir;
static struct zr_container *container;
static struct zl_loader *loader;

static void setup(void)
{
	struct zr_dtype i4 = make_dtype("<i4");
	struct zr_shape shape = { 1, { 4 } };
	struct zr_writer *w;

	scratch_make(&dir);
	cr_assert(zr_create(&w, scratch_path(&dir, "c"), ZR_DENSE, &i4, &shape,
			    NULL, NULL) == 0);
	for (int32_t i = 0; i < records; i++) {
		int32_t item[4] = { i, i, i, i };

		cr_assert(zr_append_dense(w, item, 1, NULL) == 0);
	}
	cr_assert(zr_publish(w, NULL) == 0);
	cr_assert(zr_open(&container, scratch_path(&dir, "c"), NULL, NULL) ==
		  0);
}

static void teardown(void)
{
	zr_close(container);
	scratch_remove(&dir);
}

TestSuite(loader_calls, .init = setup, .fini = teardown, .timeout = 100);

static void open_one(struct zl_loader **out, zl_transform_fn transform,
		     zl_index_fn index, void *ctx)
{
	struct zl_stream stream = { "c", container };
	struct zl_options opt = ZL_OPTIONS_INIT;

	opt.sampling.batch = batch;
	opt.sampling.order = index ? ZL_CALLER : ZL_SEQUENTIAL;
	opt.sampling.index = index;
	opt.sampling.index_ctx = opt.transform_ctx = ctx;
	opt.transform = transform;
	opt.transform_threads = transform ? 2 : 0;
	opt.threads = 2;
	cr_assert(zl_open(out, &stream, 1, &opt, NULL) == 0);
}

static struct zl_batch *next(struct zl_loader *l)
{
	struct zl_error e = { 0 };
	struct zl_batch *b;

	cr_assert(zl_next(l, &b, &e) == 0, "%s", e.message);
	return b;
}

static void expect_batch(const struct zl_batch *b, uint64_t step)
{
	const int32_t *data = (const int32_t *)(const void *)b->array[0].data;

	cr_expect(b->step == step, "step %llu",
		  (unsigned long long)b->step);
	for (size_t i = 0; i < b->count; i++)
		cr_expect(data[4 * i] == (int32_t)b->ids[i]);
}

/* ---- Callbacks ---- */

/* What the functions that wait answered, once. */
struct answers {
	atomic_bool asked, done;
	int next, seek, restore, code;
	struct zl_state state;
	struct zl_stats stats;
	size_t failed;
};

static void call_everything(struct answers *a)
{
	struct zl_batch other = { 0 }, *b = &other;
	struct zl_error e = { 0 };
	const uint64_t *ids;

	if (atomic_exchange(&a->asked, true))
		return;
	a->next = zl_next(loader, &b, &e);
	if (b)
		a->next = 1;
	a->code = e.code;
	a->seek = zl_seek(loader, 3);
	zl_save(loader, &a->state);
	a->restore = zl_restore(loader, &a->state, NULL);
	zl_stats(loader, &a->stats);
	a->failed = zl_failed_ids(loader, &ids);
	atomic_store(&a->done, true);
}

static void expect_refused(const struct answers *a)
{
	cr_expect(atomic_load(&a->done));
	cr_expect(a->next == -EDEADLK && a->code == -EDEADLK);
	cr_expect(a->seek == -EDEADLK && a->restore == -EDEADLK);
	cr_expect(a->state.step == 0 && a->stats.ring_bytes > 0);
	cr_expect(a->failed == 0);
}

static int asking_transform(void *ctx, struct zl_batch *b)
{
	(void)b;
	call_everything(ctx);
	return 0;
}

static int asking_index(void *ctx, uint64_t n, uint64_t step, uint64_t first,
			size_t count, uint64_t *ids)
{
	for (size_t i = 0; i < count; i++)
		ids[i] = (step * batch + first + i) % n;
	call_everything(ctx);
	return 0;
}

Test(loader_calls, from_a_callback_waiting_is_refused)
{
	for (int k = 0; k < 2; k++) {
		struct answers a = { 0 };

		open_one(&loader, k ? asking_transform : NULL,
			 k ? NULL : asking_index, &a);
		for (uint64_t step = 0; step < 20; step++) {
			struct zl_batch *b = next(loader);

			expect_batch(b, step);
			zl_return(b);
		}
		expect_refused(&a);
		cr_expect(zl_close(&loader) == 0 && !loader);
	}
}

struct closing {
	uint64_t at; /* step */
	atomic_int rc;
	atomic_bool kept; /* the pointer */
};

static int close_at(struct closing *c, uint64_t step)
{
	if (step == c->at) {
		atomic_store(&c->rc, zl_close(&loader));
		atomic_store(&c->kept, loader != NULL);
	}
	return 0;
}

static int closing_transform(void *ctx, struct zl_batch *b)
{
	close_at(ctx, b->step);
	/* The batch is there until this returns. */
	memset(b->array[0].data, 1, b->array[0].bytes);
	return 0;
}

static int closing_index(void *ctx, uint64_t n, uint64_t step, uint64_t first,
			 size_t count, uint64_t *ids)
{
	(void)n;
	for (size_t i = 0; i < count; i++)
		ids[i] = first + i;
	return close_at(ctx, step);
}

Test(loader_calls, closed_by_a_callback_it_stops)
{
	for (int k = 0; k < 20; k++) {
		struct closing c = { .at = (uint64_t)k / 2 };
		struct zl_batch *b;
		int rc;

		open_one(&loader, k % 2 ? closing_transform : NULL,
			 k % 2 ? NULL : closing_index, &c);
		while (!(rc = zl_next(loader, &b, NULL)))
			zl_return(b);
		cr_expect(rc == -ECANCELED, "%d", rc);
		cr_expect(zl_seek(loader, c.at + 1) == 0);
		cr_expect(atomic_load(&c.rc) == -EDEADLK);
		cr_expect(atomic_load(&c.kept));
		zl_return(next(loader));
		cr_expect(zl_close(&loader) == 0 && !loader);
	}
}

static int stopping_transform(void *ctx, struct zl_batch *b)
{
	(void)ctx;
	if (b->step == 5)
		zl_stop(loader);
	return 0;
}

Test(loader_calls, stopped_by_a_callback)
{
	struct zl_batch *b;
	int rc;

	open_one(&loader, stopping_transform, NULL, NULL);
	while (!(rc = zl_next(loader, &b, NULL)))
		zl_return(b);
	cr_expect(rc == -ECANCELED);
	zl_close(&loader);
}

/* Gives its own batch back, which it does not have, and makes a tensor. */
struct tensors {
	struct zl_dl_managed *of[100]; /* by step */
	struct zl_batch *held;
};

static int keeping_transform(void *ctx, struct zl_batch *b)
{
	struct tensors *t = ctx;

	zl_return(b);
	zl_return(__atomic_exchange_n(&t->held, NULL, __ATOMIC_ACQ_REL));
	if (b->step % 10)
		return 0;
	return zl_dlpack(b, 0, ZL_DATA, &t->of[b->step]);
}

static int32_t first_item(const struct zl_dl_managed *t)
{
	return *(const int32_t *)t->tensor.data;
}

Test(loader_calls, tensors_of_a_transform_hold_its_batch)
{
	struct tensors t = { 0 };
	struct zl_batch *a, *b;

	open_one(&loader, keeping_transform, NULL, &t);
	for (uint64_t step = 0; step < 20; step++) {
		a = next(loader);
		expect_batch(a, step);
		zl_return(a);
		zl_return(NULL);
	}
	cr_expect(t.of[0] && first_item(t.of[0]) == 0);
	cr_expect(t.of[10] && first_item(t.of[10]) == 10 * batch % records);
	/* What is made ahead is dropped, but not what a tensor holds. */
	zl_stop(loader);
	cr_assert(zl_seek(loader, 30) == 0);
	for (int i = 0; i < 20; i += 10)
		t.of[i]->deleter(t.of[i]);
	a = next(loader);
	__atomic_store_n(&t.held, next(loader), __ATOMIC_RELEASE);
	for (uint64_t step = 32; step < 50; step++) {
		b = next(loader);
		expect_batch(b, step);
		zl_return(b);
	}
	expect_batch(a, 30);
	cr_expect(zl_close(&loader) == 0);
	expect_batch(a, 30);
	cr_expect(first_item(t.of[30]) == 30 * batch % records);
	zl_return(a);
	for (int i = 20; i < 100; i += 10)
		if (t.of[i])
			t.of[i]->deleter(t.of[i]);
}

/* ---- What is refused ---- */

static int returning_transform(void *ctx, struct zl_batch *b)
{
	return b->step == 2 ? *(int *)ctx : 0;
}

static int returning_index(void *ctx, uint64_t n, uint64_t step, uint64_t first,
			   size_t count, uint64_t *ids)
{
	for (size_t i = 0; i < count; i++)
		ids[i] = (first + i) % n;
	return step == 2 ? *(int *)ctx : 0;
}

Test(loader_calls, a_callback_returns_no_positive_number)
{
	static const int returned[] = { -EDOM, 7 }, want[] = { -EDOM, -EINVAL };

	for (int k = 0; k < 4; k++) {
		struct zl_batch *b;
		struct zl_error e;
		int rc = returned[k / 2];

		open_one(&loader, k % 2 ? returning_transform : NULL,
			 k % 2 ? NULL : returning_index, &rc);
		zl_return(next(loader));
		zl_return(next(loader));
		cr_expect(zl_next(loader, &b, &e) == want[k / 2] && !b);
		cr_expect(e.code == want[k / 2] && e.step == 2);
		cr_expect(strstr(e.message, k / 2 ? "returned 7" :
						    "returned -33"),
			  "%s", e.message);
		zl_close(&loader);
	}
}

static int no_transform(void *ctx, struct zl_batch *b)
{
	(void)ctx;
	(void)b;
	return 0;
}

static void expect_refusal(const struct zl_stream *stream,
			   const struct zl_options *opt, const char *said)
{
	struct zl_loader *l = (struct zl_loader *)(void *)&dir;
	struct zl_error e;

	cr_expect(zl_open(&l, stream, 1, opt, &e) == -EINVAL && !l, "%s", said);
	cr_expect(strstr(e.message, said), "%s: %s", said, e.message);
	cr_expect(zl_open(&l, stream, 1, opt, NULL) == -EINVAL);
}

Test(loader_calls, open_refuses_what_does_not_fit)
{
	struct zl_output output = { "o", make_dtype("<f4"), { 1, { 4 } } };
	struct zl_stream stream = { "c", NULL };
	struct zl_options opt = ZL_OPTIONS_INIT;

	expect_refusal(&stream, &opt, "stream 0 (\"c\"): no container");
	stream = (struct zl_stream){ NULL, container };
	expect_refusal(&stream, &opt, "stream 0: a name");
	stream.name = "c";
	opt.outputs = 1;
	opt.output = &output;
	expect_refusal(&stream, &opt, "a transform that fills them");
	opt.transform = no_transform;
	opt.output = NULL;
	expect_refusal(&stream, &opt, "a transform that fills them");
	opt.output = &output;
	output.dtype.itemsize = 0;
	expect_refusal(&stream, &opt, "output \"o\"");
	output.dtype.itemsize = 4;
	output.item_shape.rank = ZR_RANK_MAX + 1;
	expect_refusal(&stream, &opt, "output \"o\"");
	output.item_shape.rank = 1;
	output.name = "c";
	expect_refusal(&stream, &opt, "named \"c\"");
	output.name = "";
	expect_refusal(&stream, &opt, "output 0: a name");
	output.name = "o";
	opt.threads = 1025;
	expect_refusal(&stream, &opt, "1024 threads");
	opt.threads = 1;
	opt.ring = 1;
	expect_refusal(&stream, &opt, "ring");
	opt.ring = 2;
	opt.sampling.rank = 1;
	expect_refusal(&stream, &opt, "rank 1 of 1");
	opt.sampling.rank = 0;
	opt.size--;
	expect_refusal(&stream, &opt, "size");
}

Test(loader_calls, a_refused_state_moves_nothing)
{
	struct zl_state state;
	struct zl_error e;
	struct zl_batch *b;

	open_one(&loader, NULL, NULL, NULL);
	zl_return(next(loader));
	zl_save(loader, &state);
	state.step++;
	cr_expect(zl_restore(loader, &state, &e) == -ESTALE);
	b = next(loader);
	expect_batch(b, 1);
	zl_return(b);
	zl_stop(loader);
	cr_expect(zl_restore(loader, &state, &e) == -ESTALE);
	cr_expect(zl_next(loader, &b, NULL) == -ECANCELED);
	zl_save(loader, &state);
	cr_expect(state.step == 2);
	cr_expect(zl_restore(loader, &state, NULL) == 0);
	b = next(loader);
	expect_batch(b, 2);
	zl_return(b);
	zl_close(&loader);
}

/* ---- Fork ---- */

static int status_of(pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* AddressSanitizer's allocator has locks that a fork may find taken. */
#if defined(__SANITIZE_ADDRESS__)
#define CHILD_ALLOCATES 0
#else
#define CHILD_ALLOCATES 1
#endif

/* A child has tensors, and loaders of its own. */
static int child_allocates(struct zl_batch *held)
{
	struct zl_dl_managed *t;
	struct zl_loader *l;

	if (zl_dlpack(held, 0, ZL_DATA, &t))
		return 6;
	t->deleter(t);
	open_one(&l, NULL, NULL, NULL);
	for (uint64_t step = 0; step < 10; step++) {
		struct zl_batch *b = next(l);

		expect_batch(b, step);
		zl_return(b);
	}
	return zl_close(&l);
}

/* All of it in a child of a loader with threads; what is wrong, or 0. */
static int child_calls(struct zl_batch *held)
{
	struct zl_stats stats;
	struct zl_state state;
	const uint64_t *ids;
	struct zl_batch *b;

	alarm(60);
	if (zl_next(loader, &b, NULL) != -ECHILD || b)
		return 1;
	if (zl_seek(loader, 1) != -ECHILD)
		return 2;
	zl_save(loader, &state);
	if (zl_restore(loader, &state, NULL) != -ECHILD)
		return 3;
	zl_stats(loader, &stats);
	if (!stats.ring_bytes || zl_failed_ids(loader, &ids) || ids)
		return 4;
	zl_return(held);
	zl_stop(loader);
	if (zl_close(&loader) || loader)
		return 5;
	/* Held: it stays. */
	memset(held->array[0].data, 2, held->array[0].bytes);
	return CHILD_ALLOCATES ? child_allocates(held) : 0;
}

/* A child of a transform has the thread that works for the loader. */
static int forking_transform(void *ctx, struct zl_batch *b)
{
	atomic_int *status = ctx;
	pid_t pid;

	if (b->step != 7)
		return 0;
	pid = fork();
	if (!pid)
		_exit(child_calls(b));
	atomic_store(status, status_of(pid));
	return 0;
}

Test(loader_calls, in_a_child)
{
	struct zl_batch *b;
	pid_t pid;

	/* Others hold the lock at any moment of the fork. */
	for (int k = 0; k < 50; k++) {
		open_one(&loader, asking_transform, NULL,
			 &(struct answers){ .asked = true });
		b = next(loader);
		pid = fork();
		if (!pid)
			_exit(child_calls(b));
		cr_expect(status_of(pid) == 0);
		zl_return(b);
		zl_return(next(loader));
		zl_close(&loader);
	}
}

Test(loader_calls, in_a_child_of_a_callback)
{
	atomic_int status = -1;

	open_one(&loader, forking_transform, NULL, &status);
	for (uint64_t step = 0; step < 12; step++) {
		struct zl_batch *b = next(loader);

		expect_batch(b, step);
		zl_return(b);
	}
	zl_close(&loader);
	cr_expect(atomic_load(&status) == 0, "%d", atomic_load(&status));
}

/* ---- Several threads ---- */

static void *close_shared(void *arg)
{
	(void)arg;
	return zl_close(&loader) ? &loader : NULL;
}

Test(loader_calls, closed_by_several_threads_at_once)
{
	for (int k = 0; k < 100; k++) {
		pthread_t t[4];
		void *wrong;

		open_one(&loader, NULL, NULL, NULL);
		zl_return(next(loader));
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, close_shared, NULL);
		for (int i = 0; i < 4; i++) {
			pthread_join(t[i], &wrong);
			cr_expect(!wrong);
		}
		cr_expect(!loader);
	}
}

struct reader {
	atomic_uint *held; /* by all */
	int rc;
};

/* Keep all batches until zl_next says no. */
static void *read_and_hold(void *arg)
{
	struct reader *r = arg;
	struct zl_batch *b[8];
	int n = 0;

	while (!(r->rc = zl_next(loader, &b[n], NULL))) {
		n++;
		atomic_fetch_add(r->held, 1);
	}
	while (n)
		zl_return(b[--n]);
	return NULL;
}

Test(loader_calls, seek_is_refused_while_others_wait)
{
	for (int k = 0; k < 20; k++) {
		atomic_uint held = 0;
		struct reader r[2] = { { &held, 0 }, { &held, 0 } };
		pthread_t t[2];
		int rc = 0;

		open_one(&loader, NULL, NULL, NULL);
		for (int i = 0; i < 2; i++)
			pthread_create(&t[i], NULL, read_and_hold, &r[i]);
		while (atomic_load(&held) < 4)
			usleep(100);
		/* One of them is inside for good, the other soon. */
		for (int i = 0; i < 1000 && rc != -EBUSY; i++) {
			rc = zl_seek(loader, 0);
			usleep(100);
		}
		cr_expect(rc == -EBUSY, "%d", rc);
		/* Stopped they leave, and that is waited for. */
		zl_stop(loader);
		cr_expect(zl_seek(loader, 9) == 0);
		zl_stop(loader);
		for (int i = 0; i < 2; i++) {
			pthread_join(t[i], NULL);
			cr_expect(r[i].rc == -ECANCELED, "%d", r[i].rc);
		}
		zl_close(&loader);
	}
}

/* Two seek at once: one waits for the transform, the other tells that it is
 * so. */
struct seeking {
	struct zl_loader *l; /* closed under those that wait */
	atomic_bool begun;   /* the transform has */
	atomic_bool release; /* the transform */
	atomic_bool again;   /* the other has stopped and seeks again */
	bool once;
	int rc[2];
};

static int waiting_transform(void *ctx, struct zl_batch *b)
{
	struct seeking *s = ctx;

	if (b->step != 1)
		return 0;
	atomic_store(&s->begun, true);
	for (int i = 0; i < 2000 && !atomic_load(&s->release); i++)
		usleep(1000);
	return 0;
}

static void *seek_and_stop(void *arg)
{
	struct seeking *s = arg;
	int rc = zl_seek(s->l, 9);

	if (rc != -EBUSY) {
		s->rc[0] = rc;
		return NULL;
	}
	zl_stop(s->l);
	atomic_store(&s->again, true);
	s->rc[1] = s->once ? rc : zl_seek(s->l, 9);
	atomic_store(&s->release, true);
	return NULL;
}

static void begin_seeking(struct seeking *s, pthread_t t[2])
{
	open_one(&loader, waiting_transform, NULL, s);
	s->l = loader;
	zl_return(next(loader));
	while (!atomic_load(&s->begun))
		usleep(100);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, seek_and_stop, s);
}

Test(loader_calls, a_stop_during_a_seek_stays)
{
	for (int k = 0; k < 20; k++) {
		struct seeking s = { .once = true, .rc = { 1, 1 } };
		struct zl_state state;
		struct zl_batch *b;
		pthread_t t[2];

		begin_seeking(&s, t);
		for (int i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
		cr_expect(s.rc[0] == 0 && s.rc[1] == -EBUSY);
		cr_expect(zl_next(loader, &b, NULL) == -ECANCELED);
		zl_return(b);
		zl_save(loader, &state);
		cr_expect(state.step == 9, "it stands where the seek went");
		cr_expect(zl_restore(loader, &state, NULL) == 0);
		b = next(loader);
		expect_batch(b, 9);
		zl_return(b);
		zl_close(&loader);
	}
}

Test(loader_calls, closed_while_a_seek_waits_for_another)
{
	for (int k = 0; k < 20; k++) {
		struct seeking s = { .rc = { 1, 1 } };
		pthread_t t[2];

		begin_seeking(&s, t);
		while (!atomic_load(&s.again))
			usleep(100);
		usleep(k % 2 ? 5000 : 0);
		cr_expect(zl_close(&loader) == 0 && !loader);
		for (int i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
		cr_expect(s.rc[0] == 0 && s.rc[1] == -ECANCELED, "%d, %d",
			  s.rc[0], s.rc[1]);
	}
}
