/* SPDX-License-Identifier: BSD-2-Clause
 * A shared budget of threads that take tasks of runs; the caller of a run
 * takes part in it. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "executor.h"

#define THREADS_MAX 4096u
#define SPINS 2000u /* some 50 microseconds */
#define WARM_NS 50000u

/* One call of zr_executor_run, on the stack of its caller. */
struct run {
	void (*fn)(void *ctx, unsigned lane, size_t task);
	void *ctx;
	size_t tasks;
	atomic_size_t next;  /* first task that nobody has taken */
	atomic_uint workers; /* inside it; written under ex->lock */
	struct run *link;    /* in ex->runs; under ex->lock */
};

struct zr_executor {
	unsigned threads; /* with the caller */
	pid_t pid;        /* threads do not survive fork */
	pthread_mutex_t lock;
	pthread_cond_t work;   /* a run was added, or stop */
	pthread_cond_t idle;   /* a worker left a run */
	struct run *runs;      /* under lock: runs that may have tasks left */
	atomic_uint posted;    /* how many runs were ever added */
	atomic_int cpu;        /* of the caller that added the last */
	_Atomic uint64_t used; /* zr_executor_touch, CLOCK_MONOTONIC in ns */
	unsigned started;      /* under lock */
	bool stop;             /* under lock */
	pthread_t *thread;     /* threads - 1 */
};

/* What a worker is given; freed by it. */
struct worker {
	struct zr_executor *ex;
	unsigned lane;
};

static void take_tasks(struct run *run, unsigned lane)
{
	size_t task;

	while ((task = atomic_fetch_add_explicit(
			&run->next, 1, memory_order_relaxed)) < run->tasks)
		run->fn(run->ctx, lane, task);
}

static inline void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Waking a sleeping thread costs more than half a small batch, so a worker
 * that has just worked looks for a while whether more comes; but not on the CPU
 * that the caller needs to go on, where a kernel may well have put it. */
static void spin_for_work(struct zr_executor *ex, unsigned seen)
{
	if (sched_getcpu() ==
	    atomic_load_explicit(&ex->cpu, memory_order_relaxed))
		return;
	for (unsigned i = 0; i < SPINS; i++) {
		if (atomic_load_explicit(&ex->posted, memory_order_acquire) !=
		    seen)
			return;
		relax();
	}
}

static void unlink_run(struct zr_executor *ex, struct run *run)
{
	struct run **at = &ex->runs;

	while (*at && *at != run)
		at = &(*at)->link;
	if (*at)
		*at = run->link;
}

static void *worker_main(void *arg)
{
	struct worker w = *(struct worker *)arg;
	struct zr_executor *ex = w.ex;
	struct run *run;
	unsigned seen;

	free(arg);
	pthread_mutex_lock(&ex->lock);
	for (;;) {
		while (!ex->runs && !ex->stop)
			pthread_cond_wait(&ex->work, &ex->lock);
		if (ex->stop)
			break;
		run = ex->runs;
		atomic_fetch_add(&run->workers, 1);
		pthread_mutex_unlock(&ex->lock);
		take_tasks(run, w.lane);
		pthread_mutex_lock(&ex->lock);
		/* All taken: nobody else needs to look at it. From the last
		 * worker's leaving on, `run` may be gone. */
		unlink_run(ex, run);
		if (atomic_fetch_sub(&run->workers, 1) == 1)
			pthread_cond_broadcast(&ex->idle);
		if (ex->runs)
			continue;
		seen = atomic_load(&ex->posted);
		pthread_mutex_unlock(&ex->lock);
		spin_for_work(ex, seen);
		pthread_mutex_lock(&ex->lock);
	}
	pthread_mutex_unlock(&ex->lock);
	return NULL;
}

/* Start a worker with signals blocked: they are the program's. Those that an
 * instruction raises must stay: blocked, they would end the process instead of
 * reaching the guard of a mapped read. Called
 * with the lock held. Fewer threads than asked for are no error: the caller
 * does the work. */
static void start_worker(struct zr_executor *ex)
{
	struct worker *w = malloc(sizeof(*w));
	sigset_t all, old;

	if (!w)
		return;
	w->ex = ex;
	w->lane = ex->started + 1;
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&ex->thread[ex->started], NULL, worker_main, w))
		free(w);
	else
		ex->started++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* The last tasks mostly end within microseconds. */
static void wait_for_workers(struct zr_executor *ex, struct run *run)
{
	for (unsigned i = 0; i < SPINS; i++) {
		if (!atomic_load_explicit(&run->workers, memory_order_acquire))
			break;
		relax();
	}
	/* The lock also says that the last worker has let go of the run. */
	pthread_mutex_lock(&ex->lock);
	while (atomic_load(&run->workers))
		pthread_cond_wait(&ex->idle, &ex->lock);
	pthread_mutex_unlock(&ex->lock);
}

static unsigned usable_cpus(void)
{
	cpu_set_t set;

	if (!sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) > 0)
		return (unsigned)CPU_COUNT(&set);
	return 1;
}

int zr_executor_new(struct zr_executor **out, unsigned threads)
{
	struct zr_executor *ex;

	*out = NULL;
	if (threads > THREADS_MAX)
		return -EINVAL;
	ex = calloc(1, sizeof(*ex));
	if (!ex)
		return -ENOMEM;
	ex->threads = threads ? threads : usable_cpus();
	ex->pid = getpid();
	ex->thread = calloc(ex->threads, sizeof(*ex->thread));
	if (!ex->thread) {
		free(ex);
		return -ENOMEM;
	}
	pthread_mutex_init(&ex->lock, NULL);
	pthread_cond_init(&ex->work, NULL);
	pthread_cond_init(&ex->idle, NULL);
	*out = ex;
	return 0;
}

void zr_executor_free(struct zr_executor *ex)
{
	if (!ex)
		return;
	if (ex->pid == getpid()) {
		pthread_mutex_lock(&ex->lock);
		ex->stop = true;
		pthread_cond_broadcast(&ex->work);
		pthread_mutex_unlock(&ex->lock);
		for (unsigned i = 0; i < ex->started; i++)
			pthread_join(ex->thread[i], NULL);
		pthread_cond_destroy(&ex->idle);
		pthread_cond_destroy(&ex->work);
		pthread_mutex_destroy(&ex->lock);
	}
	free(ex->thread);
	free(ex);
}

unsigned zr_executor_threads(const struct zr_executor *ex)
{
	return ex ? ex->threads : 1;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool zr_executor_warm(const struct zr_executor *ex)
{
	return now_ns() -
		       atomic_load_explicit(&ex->used, memory_order_relaxed) <
	       WARM_NS;
}

void zr_executor_touch(struct zr_executor *ex)
{
	if (ex)
		atomic_store_explicit(&ex->used, now_ns(),
				      memory_order_relaxed);
}

void zr_executor_run(struct zr_executor *ex, size_t tasks,
		     void (*fn)(void *ctx, unsigned lane, size_t task),
		     void *ctx)
{
	struct run run = { .fn = fn, .ctx = ctx, .tasks = tasks };

	atomic_init(&run.next, 0);
	if (!ex || ex->threads == 1 || tasks < 2 || ex->pid != getpid()) {
		take_tasks(&run, 0);
		return;
	}
	pthread_mutex_lock(&ex->lock);
	run.link = ex->runs;
	ex->runs = &run;
	while (ex->started + 1 < ex->threads && ex->started + 1 < tasks) {
		unsigned before = ex->started;

		start_worker(ex);
		if (ex->started == before)
			break;
	}
	atomic_store_explicit(&ex->cpu, sched_getcpu(), memory_order_relaxed);
	atomic_fetch_add_explicit(&ex->posted, 1, memory_order_release);
	pthread_mutex_unlock(&ex->lock);
	pthread_cond_broadcast(&ex->work);

	take_tasks(&run, 0);

	pthread_mutex_lock(&ex->lock);
	unlink_run(ex, &run);
	if (atomic_load(&run.workers)) {
		pthread_mutex_unlock(&ex->lock);
		wait_for_workers(ex, &run);
		return;
	}
	pthread_mutex_unlock(&ex->lock);
}
