/* SPDX-License-Identifier: BSD-2-Clause
 * Where a step lies: epochs, remainders. */
#include "sampler.h"

/* The stream runs on through epochs; a step may cross several. */
static void place_wrapped(const struct zl_sampler *s, uint64_t step,
			  struct zl_place *place)
{
	zl_u128 at = (zl_u128)step * s->how.batch;

	/* loaderx multiplies in 64 bits. */
	if (s->how.order == ZL_SEQUENTIAL)
		at = (uint64_t)at;
	place->epoch = (uint64_t)(at / s->records);
	place->position = (uint64_t)(at % s->records);
	place->count = s->how.batch;
	place->steps = ZL_NONE;
}

void zl_sampler_place(const struct zl_sampler *s, uint64_t step,
		      struct zl_place *place)
{
	uint64_t batch = s->how.batch, steps, left;

	if (zl_endless(s->how.order) || s->how.remainder == ZL_WRAP) {
		place_wrapped(s, step, place);
		return;
	}
	steps = s->records / batch;
	if (s->how.remainder == ZL_SHORT && s->records % batch)
		steps++;
	place->epoch = step / steps;
	place->position = step % steps * batch;
	left = s->records - place->position;
	place->count = left < batch ? left : batch;
	place->steps = steps;
}
