/* SPDX-License-Identifier: BSD-2-Clause */
#include "change.h"

#include "base/clock.h"
#include "base/fail.h"
#include "caller.h"
#include "slot.h"

static struct zl_slot *wait_for_work(struct zl_loader *l)
{
	struct zl_slot *slot = zl_slot_first(l, ZL_GATHERED);
	uint64_t from;

	if (!slot && !l->halt) {
		from = zl_now_ns();
		do
			pthread_cond_wait(&l->work, &l->lock);
		while (!l->halt && !(slot = zl_slot_first(l, ZL_GATHERED)));
		l->stats.wait_work_ns += zl_now_ns() - from;
	}
	return l->halt ? NULL : slot;
}

/* A batch of no records, of any kind of array. */
static void empty_batch(struct zl_batch *b)
{
	b->count = 0;
	for (size_t i = 0; i < b->arrays; i++) {
		struct zl_array *a = &b->array[i];

		a->bytes = 0;
		if (a->kind == ZR_DENSE)
			a->shape.dims[0] = 0;
	}
}

static void note_failure(struct zl_loader *l, struct zl_slot *slot, int rc)
{
	if (l->opt.flags & ZL_SKIP) {
		l->stats.skipped += slot->batch.count;
		empty_batch(&slot->batch);
		return;
	}
	slot->rc = zl_fail_callback(&slot->err, rc, slot->batch.step,
				    "transform");
}

void *zl_change_main(void *loader)
{
	struct zl_loader *l = loader;
	struct zl_slot *slot;

	zl_work_for(l);
	pthread_mutex_lock(&l->lock);
	while ((slot = wait_for_work(l))) {
		uint64_t from = zl_now_ns();
		int rc;

		slot->state = ZL_CHANGING;
		pthread_mutex_unlock(&l->lock);
		rc = l->opt.transform(l->opt.transform_ctx, &slot->batch);
		pthread_mutex_lock(&l->lock);
		l->stats.transform_ns += zl_now_ns() - from;
		if (rc)
			note_failure(l, slot, rc);
		slot->state = ZL_READY;
		pthread_cond_broadcast(&l->ready);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}
