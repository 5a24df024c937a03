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

/* End the run and stand at what zl_save gives. */
static void rewind_run(struct zl_loader *l)
{
	struct zl_state here;

	zl_save(l, &here);
	if (l->running)
		zl_run_end(l);
	zl_sampler_restore(l->sampler, &here, NULL);
}

static void stand_at_sampler(struct zl_loader *l)
{
	pthread_mutex_lock(&l->lock);
	zl_sampler_save(l->sampler, &l->drawn);
	l->next = l->drawn.step;
	l->stopped = false;
	pthread_mutex_unlock(&l->lock);
}

int zl_restore(struct zl_loader *l, const struct zl_state *state,
	       struct zl_error *err)
{
	int rc;

	if (zl_forked(l))
		return zl_fail(err, -ECHILD,
			       "the loader's threads are in the process that "
			       "forked this one");
	rewind_run(l);
	rc = zl_sampler_restore(l->sampler, state, err);
	stand_at_sampler(l);
	return rc;
}

int zl_seek(struct zl_loader *l, uint64_t step)
{
	if (zl_forked(l))
		return -ECHILD;
	rewind_run(l);
	zl_sampler_seek(l->sampler, step);
	stand_at_sampler(l);
	return 0;
}
