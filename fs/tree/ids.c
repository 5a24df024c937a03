/* SPDX-License-Identifier: BSD-2-Clause
 * Which records a file is made of: a run of them, or a selection. */
#include "ids.h"

#include <errno.h>

#include "gather.h"
#include "streams.h"

int ids_hold(struct mount *m, const struct node *n, struct ids *ids)
{
	const struct stream *s = mount_stream(m, n);
	const struct gather *x;

	*ids = (struct ids){ .count = s->info->records };
	if (n->kind == NODE_BATCH) {
		ids->first = n->index * n->size;
		ids->count = stream_batch_count(s, n->size, n->index);
	} else if (n->kind == NODE_GATHER) {
		x = gather_hold(m->gathers, n->index);
		if (!x)
			return -ESTALE;
		ids->selection = &x->selection;
		ids->count = x->selection.count;
	}
	return 0;
}

void ids_put(struct mount *m, const struct node *n)
{
	if (n->kind == NODE_GATHER)
		gather_drop(m->gathers, n->index, 1);
}

void ids_get(const struct ids *ids, uint64_t at, size_t count, uint64_t *out)
{
	if (ids->selection) {
		(void)zr_selection_ids(ids->selection, at, count, out);
		return;
	}
	for (size_t i = 0; i < count; i++)
		out[i] = ids->first + at + i;
}

uint64_t ids_at(const struct ids *ids, uint64_t at)
{
	uint64_t id = 0;

	ids_get(ids, at, 1, &id);
	return id;
}
