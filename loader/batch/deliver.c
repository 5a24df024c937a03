/* SPDX-License-Identifier: BSD-2-Clause
 * The caller's side of the ring: next, return, close, and where a run
 * stands. */
#include <errno.h>

#include "base/clock.h"
#include "base/fail.h"
#include "caller.h"
#include "run.h"
#include "slot.h"

static struct zl_slot *deliverable(struct zl_loader *l)
{
	struct zl_slot *first = zl_slot_first(l, ZL_READY);

	if (first && !(l->opt.flags & ZL_UNORDERED) &&
	    first->batch.step != l->next)
		return NULL;
	return first;
}

static int start(struct zl_loader *l, struct zl_error *err)
{
	int rc;

	l->busy = true;
	rc = zl_run_start(l, err);
	l->busy = false;
	pthread_cond_broadcast(&l->ready);
	return rc;
}

/* Called with the lock held. */
static int wait_for_batch(struct zl_loader *l, struct zl_slot **slot,
			  struct zl_error *err)
{
	int rc;

	for (;;) {
		if (l->busy) {
			pthread_cond_wait(&l->ready, &l->lock);
			continue;
		}
		if (l->stopped || l->closing)
			return zl_fail(err, -ECANCELED,
				       "the loader was stopped");
		if (l->failed) {
			if (err)
				*err = l->failed->err;
			return l->failed->rc;
		}
		if (!l->running) {
			rc = start(l, err);
			if (rc)
				return rc;
			continue;
		}
		*slot = deliverable(l);
		if (*slot && (*slot)->rc)
			l->failed = *slot;
		else if (*slot)
			return 0;
		else
			pthread_cond_wait(&l->ready, &l->lock);
	}
}

static void lend(struct zl_loader *l, struct zl_slot *slot)
{
	zl_slot_lend(slot);
	l->next = slot->batch.step + 1;
	l->stats.batches++;
	l->stats.records += slot->batch.count;
}

int zl_next(struct zl_loader *l, struct zl_batch **batch, struct zl_error *err)
{
	struct zl_slot *slot = NULL;
	uint64_t from = zl_now_ns();
	int rc;

	*batch = NULL;
	rc = zl_may_wait(l, err);
	if (rc)
		return rc;
	pthread_mutex_lock(&l->lock);
	l->inside++;
	rc = wait_for_batch(l, &slot, err);
	if (!rc) {
		lend(l, slot);
		*batch = &slot->batch;
	} else if (l->failed) {
		/* All that wait get the error, not the first alone. */
		pthread_cond_broadcast(&l->ready);
	}
	l->stats.wait_batch_ns += zl_now_ns() - from;
	l->inside--;
	pthread_cond_broadcast(&l->left);
	pthread_mutex_unlock(&l->lock);
	return rc;
}

void zl_return(struct zl_batch *batch)
{
	/* The batch is the first member of its slot. */
	if (batch)
		zl_slot_return((struct zl_slot *)(void *)batch);
}

size_t zl_failed_ids(struct zl_loader *l, const uint64_t **ids)
{
	bool lock = !zl_forked(l);
	size_t count = 0;

	if (lock)
		pthread_mutex_lock(&l->lock);
	*ids = NULL;
	if (l->failed) {
		*ids = l->failed->ids;
		count = l->failed->batch.count;
	}
	if (lock)
		pthread_mutex_unlock(&l->lock);
	return count;
}

void zl_stop(struct zl_loader *l)
{
	if (zl_forked(l))
		return;
	pthread_mutex_lock(&l->lock);
	l->stopped = true;
	pthread_cond_broadcast(&l->ready);
	pthread_mutex_unlock(&l->lock);
}

static void close_forked(struct zl_loader *l)
{
	/* A batch that is held, or that a transform has which forked, keeps its
	 * memory for as long as the child. */
	if (l->borrowed || zl_in_callback(l))
		return;
	for (size_t i = 0; i < l->streams; i++)
		zr_reader_free(l->source[i].reader);
	zr_executor_free(l->executor);
	zl_loader_free(l);
}

static void close_running(struct zl_loader *l)
{
	bool last, running;

	pthread_mutex_lock(&l->lock);
	l->closing = true;
	pthread_cond_broadcast(&l->ready);
	pthread_cond_broadcast(&l->left);
	while (l->inside || l->entering)
		pthread_cond_wait(&l->left, &l->lock);
	running = l->running;
	pthread_mutex_unlock(&l->lock);
	if (running)
		zl_run_end(l);
	pthread_mutex_lock(&l->lock);
	l->closed = true;
	last = !l->borrowed;
	pthread_mutex_unlock(&l->lock);
	if (last)
		zl_loader_free(l);
}

int zl_close(struct zl_loader **loader)
{
	struct zl_loader *l =
		loader ? __atomic_load_n(loader, __ATOMIC_ACQUIRE) : NULL;

	if (!l)
		return 0;
	/* Its thread cannot be waited for by itself. */
	if (zl_in_callback(l) && !zl_forked(l)) {
		zl_stop(l);
		return -EDEADLK;
	}
	l = __atomic_exchange_n(loader, NULL, __ATOMIC_ACQ_REL);
	if (l && zl_forked(l))
		close_forked(l);
	else if (l)
		close_running(l);
	return 0;
}
