/* SPDX-License-Identifier: BSD-2-Clause */
#include "run.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/fail.h"
#include "change.h"
#include "gather.h"
#include "slot.h"

static int start_thread(struct zl_loader *l, void *(*entry)(void *))
{
	sigset_t all, old;
	int rc;

	/* Signals are the program's, but not those that an instruction raises:
	 * the engine's guard of mapped files needs them. The engine starts its
	 * threads so too; the public header of neither has a use for that. */
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&l->thread[l->threads], NULL, entry, l);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return -EAGAIN;
	l->threads++;
	return 0;
}

static void free_readers(struct zl_loader *l)
{
	for (size_t i = 0; i < l->streams; i++) {
		zr_reader_free(l->source[i].reader);
		l->source[i].reader = NULL;
	}
	zr_executor_free(l->executor);
	l->executor = NULL;
}

static int make_readers(struct zl_loader *l)
{
	int rc = zr_executor_new(&l->executor, l->opt.threads);

	for (size_t i = 0; i < l->streams && !rc; i++)
		rc = zr_reader_new(&l->source[i].reader, l->source[i].container,
				   l->executor);
	return rc;
}

/* Join what was started. Called without the lock, `halt` set. */
static void join(struct zl_loader *l)
{
	for (unsigned i = 0; i < l->threads; i++)
		pthread_join(l->thread[i], NULL);
	l->threads = 0;
	free_readers(l);
}

static void end_failed_start(struct zl_loader *l)
{
	struct zl_state from;

	/* The gatherer may have drawn steps already; nobody saw them. */
	zl_slots_undelivered(l, &from);
	l->halt = true;
	pthread_cond_broadcast(&l->space);
	pthread_cond_broadcast(&l->work);
	pthread_mutex_unlock(&l->lock);
	join(l);
	pthread_mutex_lock(&l->lock);
	__atomic_store_n(&l->pid, 0, __ATOMIC_RELAXED);
	zl_slots_drop(l);
	zl_sampler_restore(l->sampler, &from, NULL);
	l->drawn = from;
}

int zl_run_start(struct zl_loader *l, struct zl_error *err)
{
	int rc = make_readers(l);

	if (rc) {
		free_readers(l);
		return zl_fail(err, rc, "loader: no memory for readers");
	}
	l->halt = false;
	__atomic_store_n(&l->pid, getpid(), __ATOMIC_RELAXED);
	rc = start_thread(l, zl_gather_main);
	for (unsigned i = 0; i < l->opt.transform_threads && !rc; i++)
		rc = start_thread(l, zl_change_main);
	if (rc) {
		end_failed_start(l);
		return zl_fail(err, rc,
			       "loader: a thread could not be started");
	}
	l->running = true;
	return 0;
}

void zl_run_end(struct zl_loader *l)
{
	pthread_mutex_lock(&l->lock);
	l->halt = true;
	pthread_cond_broadcast(&l->space);
	pthread_cond_broadcast(&l->work);
	pthread_cond_broadcast(&l->ready);
	pthread_mutex_unlock(&l->lock);
	join(l);
	pthread_mutex_lock(&l->lock);
	l->running = false;
	l->failed = NULL;
	__atomic_store_n(&l->pid, 0, __ATOMIC_RELAXED);
	zl_slots_drop(l);
	pthread_mutex_unlock(&l->lock);
}
