/* SPDX-License-Identifier: BSD-2-Clause
 * Readers that go through records in order. */
#include "order.h"

#include <stddef.h>

/* Readers that share a run may be this far apart, and readers that leave
 * records out go by at most so many at once. */
#define NEAR 16u
/* The first window of a run. */
#define WINDOW_MIN 4u
/* Records that are left to who overtook; found by trial. */
#define OVERTAKEN 7u

static bool is_near(const struct order_run *r, uint64_t of, uint64_t id)
{
	uint64_t front = r->last > r->end ? r->last : r->end;

	return r->used && r->of == of && id + NEAR > r->last &&
	       id <= front + NEAR;
}

/* Returns the run that the reader belongs to, or NULL. */
static struct order_run *find(struct order *o, uint64_t of, uint64_t id)
{
	for (unsigned i = 0; i < ORDER_RUNS; i++) {
		if (is_near(&o->run[i], of, id))
			return &o->run[i];
	}
	return NULL;
}

static void start(struct order *o, uint64_t of, uint64_t id)
{
	struct order_run *r = &o->run[0];

	for (unsigned i = 1; i < ORDER_RUNS; i++) {
		if (o->run[i].used < r->used)
			r = &o->run[i];
	}
	*r = (struct order_run){ .of = of,
				 .last = id,
				 .next = id + 1,
				 .end = id + 1,
				 .used = o->now };
}

bool order_seen(struct order *o, uint64_t of, uint64_t id, uint64_t count,
		const struct order_limits *limits)
{
	struct order_run *r = find(o, of, id);

	o->now++;
	if (!r) {
		start(o, of, id);
		return false;
	}
	r->used = o->now;
	r->bytes = limits->bytes;
	/* The same record again tells nothing: its pages were dropped. */
	if (id == r->last)
		return r->next < r->end;
	/* A window that was used up may be larger the next time. */
	if (id >= r->end)
		r->window =
			r->window ? 2 * r->window : WINDOW_MIN + limits->lead;
	if (r->window > limits->records)
		r->window = limits->records;
	if (id > r->last)
		r->last = id;
	/* The reader asks for this one itself; who overtakes is left some more,
	 * for else both would meet at each record from now on. */
	if (r->next <= id)
		r->next = id + 1 +
			  (id < r->end && limits->lead < OVERTAKEN
				   ? OVERTAKEN
				   : limits->lead);
	if (r->end < id + 1 + limits->lead + r->window)
		r->end = id + 1 + limits->lead + r->window;
	if (r->end > count)
		r->end = count;
	return r->next < r->end;
}

bool order_take(struct order *o, uint64_t *of, uint64_t *id)
{
	for (unsigned i = 0; i < ORDER_RUNS; i++) {
		struct order_run *r = &o->run[++o->turn % ORDER_RUNS];

		if (r->next >= r->end)
			continue;
		*of = r->of;
		*id = r->next++;
		return true;
	}
	return false;
}

void order_pushed(struct order *o, uint64_t of, uint64_t id, uint64_t bytes)
{
	struct order_run *r = &o->run[o->turn % ORDER_RUNS];

	/* It may be of other readers by now. */
	if (r->of != of || r->next <= id)
		return;
	if (bytes && bytes < r->bytes) {
		r->bytes -= bytes;
		return;
	}
	r->bytes = 0;
	/* Nothing more until it is seen beyond: that starts a new window. */
	if (r->end > r->next)
		r->end = r->next;
	if (!bytes)
		r->window = 0;
}
