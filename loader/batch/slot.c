/* SPDX-License-Identifier: BSD-2-Clause */
#include "slot.h"

#include <stdlib.h>

#include "caller.h"
#include "ring.h"

struct zl_slot *zl_slot_first(struct zl_loader *l, enum zl_slot_state state)
{
	struct zl_slot *first = NULL;

	for (unsigned i = 0; i < l->slots; i++) {
		struct zl_slot *slot = &l->slot[i];

		if (slot->state == state &&
		    (!first || slot->batch.step < first->batch.step))
			first = slot;
	}
	return first;
}

/* Not free, and not the caller's. */
static bool under_way(const struct zl_slot *slot)
{
	return slot->state != ZL_FREE && slot->state != ZL_BORROWED;
}

void zl_slots_undelivered(const struct zl_loader *l, struct zl_state *state)
{
	*state = l->drawn;
	for (unsigned i = 0; i < l->slots; i++) {
		const struct zl_slot *slot = &l->slot[i];

		if (under_way(slot) && slot->before.step <= state->step)
			*state = slot->before;
	}
}

void zl_slots_drop(struct zl_loader *l)
{
	for (unsigned i = 0; i < l->slots; i++) {
		struct zl_slot *slot = &l->slot[i];

		if (!under_way(slot))
			continue;
		/* A tensor that a transform made may outlive its step. */
		slot->state = --slot->refs ? ZL_BORROWED : ZL_FREE;
		l->borrowed += slot->state == ZL_BORROWED;
	}
}

void zl_slot_lend(struct zl_slot *slot)
{
	slot->state = ZL_BORROWED;
	slot->lent = true;
	slot->loader->borrowed++;
}

void zl_slot_hold(struct zl_slot *slot)
{
	/* In a child nothing is given back. */
	if (zl_forked(slot->loader))
		return;
	pthread_mutex_lock(&slot->loader->lock);
	slot->refs++;
	pthread_mutex_unlock(&slot->loader->lock);
}

/* Called with the lock held, which it gives away. */
static void drop_reference(struct zl_slot *slot)
{
	struct zl_loader *l = slot->loader;
	bool last = false;

	if (!--slot->refs) {
		slot->state = ZL_FREE;
		l->borrowed--;
		last = l->closed && !l->borrowed;
		pthread_cond_signal(&l->space);
	}
	pthread_mutex_unlock(&l->lock);
	if (last)
		zl_loader_free(l);
}

void zl_slot_put(struct zl_slot *slot)
{
	if (zl_forked(slot->loader))
		return;
	pthread_mutex_lock(&slot->loader->lock);
	drop_reference(slot);
}

void zl_slot_return(struct zl_slot *slot)
{
	struct zl_loader *l = slot->loader;

	if (zl_forked(l))
		return;
	pthread_mutex_lock(&l->lock);
	/* A transform has its batch, but was not lent it. */
	if (!slot->lent) {
		pthread_mutex_unlock(&l->lock);
		return;
	}
	slot->lent = false;
	drop_reference(slot);
}

void zl_loader_free(struct zl_loader *l)
{
	zl_ring_free(l);
	zl_sampler_free(l->sampler);
	free(l->source);
	free(l->thread);
	/* In a child the parent's threads may seem to hold or wait. */
	if (!zl_forked(l)) {
		pthread_cond_destroy(&l->space);
		pthread_cond_destroy(&l->work);
		pthread_cond_destroy(&l->ready);
		pthread_cond_destroy(&l->left);
		pthread_mutex_destroy(&l->lock);
	}
	free(l);
}
