/* SPDX-License-Identifier: BSD-2-Clause
 * Saves where a loader stands, and moves it elsewhere. */
#include <errno.h>

#include "base/fail.h"
#include "caller.h"
#include "run.h"
#include "slot.h"

void zl_save(struct zl_loader *l, struct zl_state *state)
{
	/* In a child nobody changes it, and the lock may be held for ever. */
	if (zl_forked(l)) {
		zl_slots_undelivered(l, state);
		return;
	}
	pthread_mutex_lock(&l->lock);
	zl_slots_undelivered(l, state);
	pthread_mutex_unlock(&l->lock);
}

/* Keep others out of the run until `leave`. */
static int enter(struct zl_loader *l, struct zl_error *err)
{
	int rc = zl_may_wait(l, err);

	if (rc)
		return rc;
	pthread_mutex_lock(&l->lock);
	while (l->stopped && l->inside)
		pthread_cond_wait(&l->left, &l->lock);
	if (l->inside)
		rc = zl_fail(err, -EBUSY,
			     "another thread is in zl_next, zl_restore or "
			     "zl_seek: zl_stop ends its waiting");
	else
		l->busy = true;
	l->inside += !rc;
	pthread_mutex_unlock(&l->lock);
	return rc;
}

/* End the run and stand at what zl_save gives. */
static void rewind_run(struct zl_loader *l)
{
	struct zl_state here;

	zl_save(l, &here);
	if (l->running)
		zl_run_end(l);
	zl_sampler_restore(l->sampler, &here, NULL);
}

/* Stand at the sampler, which was moved if rc is 0. */
static void leave(struct zl_loader *l, int rc)
{
	pthread_mutex_lock(&l->lock);
	zl_sampler_save(l->sampler, &l->drawn);
	l->next = l->drawn.step;
	l->stopped = l->stopped && rc;
	l->busy = false;
	l->inside--;
	pthread_cond_broadcast(&l->ready);
	pthread_cond_broadcast(&l->left);
	pthread_mutex_unlock(&l->lock);
}

int zl_restore(struct zl_loader *l, const struct zl_state *state,
	       struct zl_error *err)
{
	int rc = enter(l, err);

	if (rc)
		return rc;
	rewind_run(l);
	rc = zl_sampler_restore(l->sampler, state, err);
	leave(l, rc);
	return rc;
}

int zl_seek(struct zl_loader *l, uint64_t step)
{
	int rc = enter(l, NULL);

	if (rc)
		return rc;
	rewind_run(l);
	zl_sampler_seek(l->sampler, step);
	leave(l, 0);
	return 0;
}
