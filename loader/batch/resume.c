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

/* Wait until others that were stopped have left. Called with the lock held. */
static int wait_to_enter(struct zl_loader *l, struct zl_error *err)
{
	l->entering++;
	while (l->stopped && l->inside && !l->closing)
		pthread_cond_wait(&l->left, &l->lock);
	l->entering--;
	if (l->closing) {
		pthread_cond_broadcast(&l->left);
		return zl_fail(err, -ECANCELED, "the loader was closed");
	}
	if (l->inside)
		return zl_fail(err, -EBUSY,
			       "another thread is in zl_next, zl_restore or "
			       "zl_seek: zl_stop ends its waiting");
	return 0;
}

/* Keep others out of the run until `leave`. From here on zl_stop is a new one,
 * which stays; whether there was one before is stored. */
static int enter(struct zl_loader *l, bool *stopped, struct zl_error *err)
{
	int rc = zl_may_wait(l, err);

	if (rc)
		return rc;
	pthread_mutex_lock(&l->lock);
	rc = wait_to_enter(l, err);
	if (!rc) {
		l->busy = true;
		l->inside++;
		*stopped = l->stopped;
		l->stopped = false;
	}
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

/* Stand at the sampler; stopped if that is so or became so meanwhile. */
static void leave(struct zl_loader *l, bool stopped)
{
	pthread_mutex_lock(&l->lock);
	zl_sampler_save(l->sampler, &l->drawn);
	l->next = l->drawn.step;
	l->stopped |= stopped;
	l->busy = false;
	l->inside--;
	pthread_cond_broadcast(&l->ready);
	pthread_cond_broadcast(&l->left);
	pthread_mutex_unlock(&l->lock);
}

int zl_restore(struct zl_loader *l, const struct zl_state *state,
	       struct zl_error *err)
{
	bool stopped;
	int rc = enter(l, &stopped, err);

	if (rc)
		return rc;
	rewind_run(l);
	rc = zl_sampler_restore(l->sampler, state, err);
	leave(l, stopped && rc);
	return rc;
}

int zl_seek(struct zl_loader *l, uint64_t step)
{
	bool stopped;
	int rc = enter(l, &stopped, NULL);

	if (rc)
		return rc;
	rewind_run(l);
	zl_sampler_seek(l->sampler, step);
	leave(l, false);
	return 0;
}
