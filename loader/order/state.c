/* SPDX-License-Identifier: BSD-2-Clause
 * Saves where a run stands, and continues there or says why not. */
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "sampler.h"
#include "weights.h"

static uint64_t state_check(const struct zl_state *state)
{
	uint64_t word[sizeof(*state) / 8 - 1], h = 0;

	memcpy(word, state, sizeof(word));
	for (size_t i = 0; i < sizeof(word) / 8; i++)
		h = zl_mix(h, word[i], 10);
	return h;
}

static void fill(const struct zl_sampler *s, struct zl_state *state)
{
	*state = (struct zl_state){
		.version = ZL_STATE_VERSION,
		.order = s->how.order,
		.remainder = s->how.remainder,
		.world = s->how.world,
		.records = s->records,
		.batch = s->how.batch,
		.seed = s->how.seed,
		.window = s->how.order == ZL_WINDOW ? s->how.window : 0,
		.step = s->step,
		.containers = s->containers,
		.weights = s->how.order == ZL_WEIGHTED
				   ? s->how.weights->identity
				   : 0,
	};
	if (s->how.order == ZL_IID) {
		state->generator[0] = s->gen.a;
		state->generator[1] = s->gen.b;
		state->generator[2] = s->gen.c;
		state->generator[3] = s->gen.n;
	}
}

void zl_sampler_save(const struct zl_sampler *s, struct zl_state *state)
{
	fill(s, state);
	state->check = state_check(state);
}

static int differs(struct zl_error *err, const char *what, uint64_t state,
		   uint64_t ours)
{
	return zl_fail(err, -ESTALE,
		       "the state does not fit: %s is %llu there and %llu here",
		       what, (unsigned long long)state,
		       (unsigned long long)ours);
}

/* The reason why a state of another run is refused, the telling one first. */
static int compare(const struct zl_state *a, const struct zl_state *b,
		   struct zl_error *err)
{
	if (a->records != b->records)
		return differs(err, "the number of records", a->records,
			       b->records);
	if (a->containers != b->containers)
		return zl_fail(err, -ESTALE,
			       "the state does not fit: it was saved with "
			       "other containers or stream names");
	if (a->order != b->order)
		return differs(err, "the order", a->order, b->order);
	if (a->remainder != b->remainder)
		return differs(err, "the remainder policy", a->remainder,
			       b->remainder);
	if (a->batch != b->batch)
		return differs(err, "the global batch", a->batch, b->batch);
	if (a->seed != b->seed)
		return differs(err, "the seed", a->seed, b->seed);
	if (a->window != b->window)
		return differs(err, "the window", a->window, b->window);
	if (a->weights != b->weights)
		return zl_fail(err, -ESTALE,
			       "the state does not fit: it was saved with "
			       "other weights");
	return 0;
}

int zl_sampler_restore(struct zl_sampler *s, const struct zl_state *state,
		       struct zl_error *err)
{
	struct zl_state ours;
	int rc;

	if (state->version != ZL_STATE_VERSION)
		return differs(err, "the version", state->version,
			       ZL_STATE_VERSION);
	if (state->check != state_check(state))
		return zl_fail(
			err, -ESTALE,
			"the state is damaged: its check does not match");
	fill(s, &ours);
	rc = compare(state, &ours, err);
	if (rc)
		return rc;
	s->step = state->step;
	if (s->how.order == ZL_IID)
		s->gen = (struct zl_sfc){ state->generator[0],
					  state->generator[1],
					  state->generator[2],
					  state->generator[3] };
	return 0;
}
