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
#include <unistd.h>

#include "zrecord.h"

#define THREADS_MAX 4096u

/* One call of zr_executor_run, on the stack of its caller. */
struct run {
	void (*fn)(void *ctx, unsigned lane, size_t task);
	void *ctx;
	size_t tasks;
	atomic_size_t next;   /* first task that nobody has taken */
	unsigned workers;     /* inside it; under ex->lock */
	struct run *link;     /* in ex->runs; under ex->lock */
};

struct zr_executor {
	unsigned threads;      /* with the caller */
	pid_t pid;             /* threads do not survive fork */
	pthread_mutex_t lock;
	pthread_cond_t work;   /* a run was added, or stop */
	pthread_cond_t idle;   /* a worker left a run */
	struct run *runs;      /* under lock: runs that may have tasks left */
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

	while ((task = atomic_fetch_add_explicit(&run->next, 1,
						 memory_order_relaxed)) <
	       run->tasks)
		run->fn(run->ctx, lane, task);
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

	free(arg);
	pthread_mutex_lock(&ex->lock);
	for (;;) {
		while (!ex->runs && !ex->stop)
			pthread_cond_wait(&ex->work, &ex->lock);
		if (ex->stop)
			break;
		run = ex->runs;
		run->workers++;
		pthread_mutex_unlock(&ex->lock);
		take_tasks(run, w.lane);
		pthread_mutex_lock(&ex->lock);
		/* All taken: nobody else needs to look at it. */
		unlink_run(ex, run);
		if (!--run->workers)
			pthread_cond_broadcast(&ex->idle);
	}
	pthread_mutex_unlock(&ex->lock);
	return NULL;
}

/* Start a worker with all signals blocked: signals are the program's. Called
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
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&ex->thread[ex->started], NULL, worker_main, w))
		free(w);
	else
		ex->started++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
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
	pthread_cond_broadcast(&ex->work);
	pthread_mutex_unlock(&ex->lock);

	take_tasks(&run, 0);

	pthread_mutex_lock(&ex->lock);
	unlink_run(ex, &run);
	while (run.workers)
		pthread_cond_wait(&ex->idle, &ex->lock);
	pthread_mutex_unlock(&ex->lock);
}
