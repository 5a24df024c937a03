/* SPDX-License-Identifier: BSD-2-Clause */
#include "ring.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

static void unpin(struct zl_loader *l, struct zl_region *r)
{
	if (!r->pinned)
		return;
	munlock(r->base, r->size);
	__atomic_fetch_sub(&l->stats.pinned_bytes, r->size, __ATOMIC_RELAXED);
	r->pinned = false;
}

void zl_region_drop(struct zl_loader *l, struct zl_region *r)
{
	unpin(l, r);
	zr_pool_put(l->pool, r->base);
	__atomic_fetch_sub(&l->stats.ring_bytes, r->size, __ATOMIC_RELAXED);
	*r = (struct zl_region){ 0 };
}

int zl_region_grow(struct zl_loader *l, struct zl_region *r, size_t size)
{
	if (size <= r->size)
		return 0;
	zl_region_drop(l, r);
	r->base = zr_pool_get(l->pool, size);
	if (!r->base)
		return -ENOMEM;
	r->size = size;
	if (l->opt.flags & ZL_PIN && !mlock(r->base, size)) {
		r->pinned = true;
		__atomic_fetch_add(&l->stats.pinned_bytes, size,
				   __ATOMIC_RELAXED);
	}
	__atomic_fetch_add(&l->stats.ring_bytes, size, __ATOMIC_RELAXED);
	return 0;
}

static void describe(struct zl_loader *l, struct zl_slot *slot)
{
	slot->loader = l;
	slot->batch.ids = slot->ids;
	slot->batch.arrays = l->sources;
	for (size_t i = 0; i < l->sources; i++) {
		struct zl_array *a = &slot->batch.array[i];

		a->name = l->source[i].name;
		a->kind = l->source[i].kind;
		a->dtype = l->source[i].dtype;
		if (a->kind == ZR_DENSE)
			a->data = slot->dense.base + l->source[i].offset;
	}
}

static int make_slot(struct zl_loader *l, struct zl_slot *slot)
{
	slot->ids = calloc(l->room, sizeof(*slot->ids));
	slot->batch.array = calloc(l->sources, sizeof(*slot->batch.array));
	slot->ragged = calloc(l->sources, sizeof(*slot->ragged));
	if (!slot->ids || !slot->batch.array || !slot->ragged ||
	    zl_region_grow(l, &slot->dense, l->dense_bytes))
		return -ENOMEM;
	describe(l, slot);
	return 0;
}

int zl_ring_make(struct zl_loader *l)
{
	uint64_t limit = l->opt.ring_bytes;

	l->slots = l->opt.ring;
	if (limit && l->dense_bytes > limit / l->slots)
		l->slots = l->dense_bytes > limit
				   ? 1
				   : (unsigned)(limit / l->dense_bytes);
	l->slot = calloc(l->slots, sizeof(*l->slot));
	if (!l->slot || zr_pool_new(&l->pool, 0))
		return -ENOMEM;
	for (unsigned i = 0; i < l->slots; i++)
		if (make_slot(l, &l->slot[i]))
			return -ENOMEM;
	l->ahead.ids = calloc(l->room, sizeof(*l->ahead.ids));
	return l->ahead.ids ? 0 : -ENOMEM;
}

void zl_ring_free(struct zl_loader *l)
{
	for (unsigned i = 0; l->slot && i < l->slots; i++) {
		struct zl_slot *slot = &l->slot[i];

		for (size_t j = 0; slot->ragged && j < l->sources; j++)
			unpin(l, &slot->ragged[j]);
		unpin(l, &slot->dense);
		free(slot->ragged);
		free(slot->batch.array);
		free(slot->ids);
	}
	/* Not one by one, which would take the pool's lock: in a forked child
	 * a thread that is not there may hold it. */
	zr_pool_free(l->pool);
	free(l->slot);
	free(l->ahead.ids);
}
