/* SPDX-License-Identifier: BSD-2-Clause */
#include "ahead.h"

static void draw(struct zl_loader *l, struct zl_step *step)
{
	step->drawn = true;
	step->number = l->sampler->step;
	step->count = 0;
	zl_sampler_place(l->sampler, step->number, &step->place);
	step->rc = zl_sampler_next(l->sampler, step->ids, &step->count,
				   &step->err);
	zl_sampler_save(l->sampler, &step->after);
}

int zl_ahead_take(struct zl_loader *l, struct zl_slot *slot,
		  struct zl_state *after)
{
	struct zl_step *step = &l->ahead;
	uint64_t *ids = slot->ids;

	if (!step->drawn)
		draw(l, step);
	step->drawn = false;
	slot->batch.ids = slot->ids = step->ids;
	step->ids = ids;
	slot->batch.step = step->number;
	slot->batch.epoch = step->place.epoch;
	slot->batch.position = step->place.position;
	slot->batch.count = step->count;
	*after = step->after;
	if (step->rc) {
		slot->err = step->err;
		return step->rc;
	}
	draw(l, step);
	for (size_t i = 0; i < l->streams; i++)
		zr_prefetch(l->source[i].container, step->ids, step->count);
	return 0;
}
