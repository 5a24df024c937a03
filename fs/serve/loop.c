/* SPDX-License-Identifier: BSD-2-Clause
 * The threads that serve.
 *
 * To wake a thread costs more than to answer most requests, and the kernel
 * wakes one that sleeps on the device though another is awake to take the
 * request. So a thread is in one of three places:
 *
 *     at the device   awake for a little while, then asleep in poll(2)
 *     busy            with a request
 *     resting         asleep until it is called; the first of them watches
 *
 * and this holds at all times:
 *
 *  1. Who sleeps at the device is alone there. Others rest instead.
 *  2. If all that do not rest are busy, one that rests goes to the device: at
 *     once if that is known to be worth its waking (loop_may_last; requests
 *     that came from several readers or took long lately), and after two
 *     ticks of the one that watches whatever the others are busy with.
 *
 * A thread that is busy with something short is back before another would be
 * awake, so mostly one thread serves one reader. */
#include "loop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "files/worker.h"

/* Some times what waking costs. A reader takes so much, and more, between two
 * requests: with less, who sleeps once has reason to sleep again. */
#define AWAKE_NS 100000
/* After so many requests in a row that took longer it sleeps at once. */
#define SLOW 2u
/* A request that took so long, or that came at once and from another reader
 * than the last, speaks for another thread; others speak against it, each half
 * as much. */
#define LONG_NS 50000
#define LOAD_MAX 16u
#define LOAD_HIGH 8u
/* Ticks of the one that watches; it sleeps after some without a request. */
#define TICK_MS 1
#define QUIET_TICKS 4u

struct loop {
	struct fuse_session *se;
	unsigned max, count; /* threads, with that of loop_run */
	pthread_t *threads;  /* count - 1 of them */
	pthread_mutex_t lock;
	pthread_cond_t call, watch;
	/* All below is under `lock`. */
	bool ended;
	int rc;
	unsigned at_device, resting;
	unsigned called;  /* of those at the device: not there yet */
	bool asleep;      /* the one at the device */
	bool watched;     /* one of those that rest watches */
	bool unwatched;   /* but sleeps */
	unsigned quiet;   /* ticks without a request */
	unsigned load;    /* see LONG_NS */
	uint64_t taken;   /* requests */
	uint32_t reader;  /* who sent the last one */
	unsigned slow;    /* that one had to be slept for, in a row */
};

static void *serve(void *arg);

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The functions from here to take() are called with the lock. */

static int add_thread(struct loop *l)
{
	int rc = pthread_create(&l->threads[l->count - 1], NULL, serve, l);

	if (!rc) {
		l->count++;
		l->resting++;
	}
	return -rc;
}

/* One that rests goes to the device. The next one is made in time; if it
 * cannot be, those that are there do. */
static void go(struct loop *l)
{
	l->resting--;
	l->at_device++;
	l->called++;
	if (!l->resting && l->count < l->max && !l->ended)
		(void)add_thread(l);
}

static void call(struct loop *l)
{
	if (l->at_device || !l->resting)
		return;
	pthread_cond_signal(l->resting > l->watched ? &l->call : &l->watch);
	go(l);
}

static void tick(struct loop *l)
{
	struct timespec until;
	uint64_t taken = l->taken;

	l->unwatched = l->quiet >= QUIET_TICKS;
	if (l->unwatched) {
		pthread_cond_wait(&l->watch, &l->lock);
		l->unwatched = false;
		l->quiet = 0;
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += TICK_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	if (!pthread_cond_timedwait(&l->watch, &l->lock, &until))
		return;
	if (taken != l->taken)
		l->quiet = 0;
	else if (l->at_device)
		l->quiet++;
	else if (!l->ended)
		go(l);
}

static void rest(struct loop *l)
{
	while (!l->called && !l->ended) {
		if (l->watched) {
			pthread_cond_wait(&l->call, &l->lock);
			continue;
		}
		l->watched = true;
		tick(l);
		l->watched = false;
	}
	if (l->called)
		l->called--;
	/* Another one is to watch. */
	if (l->resting && !l->watched)
		pthread_cond_signal(&l->call);
}

/* Returns at the device. */
static void come_back(struct loop *l)
{
	if (!l->at_device || (l->load >= LOAD_HIGH && !l->asleep)) {
		l->at_device++;
	} else {
		l->resting++;
		rest(l);
	}
}

static void end(struct loop *l, int rc)
{
	fuse_session_exit(l->se);
	l->ended = true;
	if (rc)
		l->rc = rc;
	pthread_cond_broadcast(&l->call);
	pthread_cond_broadcast(&l->watch);
}

/* Returns true if there are several readers. */
static bool take(struct loop *l, uint64_t waited, uint32_t reader)
{
	bool several = waited < AWAKE_NS && reader != l->reader;

	l->reader = reader;
	l->at_device--;
	l->taken++;
	l->slow = waited < AWAKE_NS ? 0 : l->slow + 1;
	if (l->load >= LOAD_HIGH)
		call(l);
	if (l->unwatched) {
		l->unwatched = false;
		pthread_cond_signal(&l->watch);
	}
	return several;
}

static void note_load(struct loop *l, bool more)
{
	if (more)
		l->load += l->load < LOAD_MAX ? 2 : 0;
	else
		l->load -= l->load > 0;
}

/* Called without the lock, as all below. Returns true if it slept, false if it
 * has rested and was called. */
static bool sleep_or_rest(struct loop *l)
{
	struct pollfd request = { .fd = fuse_session_fd(l->se),
				  .events = POLLIN };
	bool alone;

	pthread_mutex_lock(&l->lock);
	alone = l->at_device == 1;
	if (alone) {
		l->asleep = true;
		pthread_mutex_unlock(&l->lock);
		poll(&request, 1, -1);
		pthread_mutex_lock(&l->lock);
		l->asleep = false;
	} else {
		l->at_device--;
		l->resting++;
		rest(l);
	}
	pthread_mutex_unlock(&l->lock);
	return alone;
}

/* Store the next request in *buf. Returns its length, 0 at the end, or a
 * negative errno. */
static int receive(struct loop *l, struct fuse_buf *buf, bool sleepy,
		   uint64_t *waited)
{
	uint64_t start = now_ns();
	int n;

	while (!fuse_session_exited(l->se)) {
		n = fuse_session_receive_buf(l->se, buf);
		*waited = now_ns() - start;
		if (n != -EAGAIN && n != -EINTR)
			return n;
		/* The processor is for whoever else wants it. */
		if (!sleepy && *waited < AWAKE_NS) {
			sched_yield();
		} else if (!sleep_or_rest(l)) {
			start = now_ns();
			sleepy = false;
		}
	}
	return 0;
}

static void *serve(void *arg)
{
	struct loop *l = arg;
	struct fuse_buf buf = { .mem = NULL };
	const struct fuse_in_header *in;
	uint64_t waited, start;
	bool sleepy, several;
	int n;

	pthread_mutex_lock(&l->lock);
	rest(l);
	while (!l->ended) {
		sleepy = l->slow >= SLOW;
		pthread_mutex_unlock(&l->lock);
		n = receive(l, &buf, sleepy, &waited);
		pthread_mutex_lock(&l->lock);
		if (n <= 0) {
			end(l, n);
			break;
		}
		in = buf.mem;
		several = take(l, waited, in->pid);
		pthread_mutex_unlock(&l->lock);
		start = now_ns();
		fuse_session_process_buf(l->se, &buf);
		pthread_mutex_lock(&l->lock);
		note_load(l, several || now_ns() - start >= LONG_NS);
		come_back(l);
	}
	pthread_mutex_unlock(&l->lock);
	free(buf.mem);
	return NULL;
}

void loop_may_last(struct loop *l)
{
	pthread_mutex_lock(&l->lock);
	call(l);
	pthread_mutex_unlock(&l->lock);
}

static void destroy(struct loop *l)
{
	pthread_cond_destroy(&l->watch);
	pthread_cond_destroy(&l->call);
	pthread_mutex_destroy(&l->lock);
	free(l->threads);
	free(l);
}

/* Nobody waits in read(2), see above. */
static int set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ? -errno : 0;
}

int loop_start(struct loop **out, struct mount *m, struct fuse_session *se)
{
	struct loop *l = calloc(1, sizeof(*l));
	int rc;

	*out = NULL;
	if (!l)
		return -ENOMEM;
	l->se = se;
	l->max = mount_threads(m->opt);
	l->count = 1;
	l->quiet = QUIET_TICKS;
	l->threads = calloc(l->max, sizeof(*l->threads));
	pthread_mutex_init(&l->lock, NULL);
	cond_init_monotonic(&l->call);
	cond_init_monotonic(&l->watch);
	rc = l->threads ? set_nonblocking(fuse_session_fd(se)) : -ENOMEM;
	if (!rc && l->max > 1) {
		pthread_mutex_lock(&l->lock);
		rc = add_thread(l);
		pthread_mutex_unlock(&l->lock);
	}
	if (rc)
		destroy(l);
	else
		*out = l;
	return rc;
}

static void join(struct loop *l)
{
	for (; l->count > 1; l->count--)
		pthread_join(l->threads[l->count - 2], NULL);
}

int loop_run(struct loop *l)
{
	pthread_mutex_lock(&l->lock);
	l->at_device++;
	l->called++;
	pthread_mutex_unlock(&l->lock);
	serve(l);
	join(l);
	return l->rc;
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	end(l, 0);
	pthread_mutex_unlock(&l->lock);
	join(l);
	destroy(l);
}
