/* SPDX-License-Identifier: BSD-2-Clause
 * Readers that go through records in order. */
#include "order.h"

#include <stddef.h>

/* Readers that share a run may be this far apart, and readers that leave
 * records out go by at most so many at once. */
#define NEAR 16u
/* The first window of a run. */
#define OVERTAKEN 8 /* records ahead of who overtook; found by trial */
#define WINDOW_MIN 4u

static bool is_near(const struct order_run *r, const struct node *n)
{
	uint64_t front = r->last > r->end ? r->last : r->end;

	return r->used && r->stream == n->stream && n->index + NEAR > r->last &&
	       n->index <= front + NEAR;
}

/* Returns the run that the reader of `n` belongs to, or NULL. */
static struct order_run *find(struct order *o, const struct node *n)
{
	for (unsigned i = 0; i < ORDER_RUNS; i++) {
		if (is_near(&o->run[i], n))
			return &o->run[i];
	}
	return NULL;
}

static void start(struct order *o, const struct node *n)
{
	struct order_run *r = &o->run[0];

	for (unsigned i = 1; i < ORDER_RUNS; i++) {
		if (o->run[i].used < r->used)
			r = &o->run[i];
	}
	*r = (struct order_run){ .stream = n->stream,
				 .last = n->index,
				 .next = n->index + 1,
				 .end = n->index + 1,
				 .used = o->now };
}

bool order_seen(struct order *o, const struct node *n, uint64_t count,
		uint64_t records, uint64_t bytes)
{
	struct order_run *r = find(o, n);
	uint64_t id = n->index;

	o->now++;
	if (!r) {
		start(o, n);
		return false;
	}
	r->used = o->now;
	r->bytes = bytes;
	/* The same record again tells nothing: its pages were dropped. */
	if (id == r->last)
		return r->next < r->end;
	/* A window that was used up may be larger the next time. */
	if (id >= r->end)
		r->window = r->window ? 2 * r->window : WINDOW_MIN;
	if (r->window > records)
		r->window = records;
	if (id > r->last)
		r->last = id;
	/* The reader asks for this one itself; who overtakes is left some more,
	 * for else both would meet at each record from now on. */
	if (r->next <= id)
		r->next = id + (id < r->end ? OVERTAKEN : 1);
	if (r->end < id + 1 + r->window)
		r->end = id + 1 + r->window;
	if (r->end > count)
		r->end = count;
	return r->next < r->end;
}

bool order_take(struct order *o, struct node *n)
{
	for (unsigned i = 0; i < ORDER_RUNS; i++) {
		struct order_run *r = &o->run[++o->turn % ORDER_RUNS];

		if (r->next >= r->end)
			continue;
		*n = (struct node){ .kind = NODE_RECORD,
				    .stream = r->stream,
				    .index = r->next++ };
		return true;
	}
	return false;
}

void order_pushed(struct order *o, const struct node *n, uint64_t bytes)
{
	struct order_run *r = &o->run[o->turn % ORDER_RUNS];

	/* It may be of other readers by now. */
	if (r->stream != n->stream || r->next <= n->index)
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
