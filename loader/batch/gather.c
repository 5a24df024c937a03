/* SPDX-License-Identifier: BSD-2-Clause */
#include "gather.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ahead.h"
#include "base/clock.h"
#include "base/fail.h"
#include "caller.h"
#include "ring.h"

#define ALIGN 256u

static size_t align_up(size_t n)
{
	return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* Give the memory of a free slot's Ragged arrays back; false if none has. */
static bool drop_unused(struct zl_loader *l)
{
	for (unsigned i = 0; i < l->slots; i++)
		for (size_t j = 0; j < l->streams; j++)
			if (l->slot[i].state == ZL_FREE &&
			    l->slot[i].ragged[j].base) {
				zl_region_drop(l, &l->slot[i].ragged[j]);
				return true;
			}
	return false;
}

static bool others_in_use(const struct zl_loader *l, const struct zl_slot *slot)
{
	for (unsigned i = 0; i < l->slots; i++)
		if (&l->slot[i] != slot && l->slot[i].state != ZL_FREE)
			return true;
	return false;
}

/* Wait until `size` bytes fit into the bound of the ring, or nothing else is
 * under way: a batch that is larger than the bound must come through. */
static int wait_for_bytes(struct zl_loader *l, const struct zl_slot *slot,
			  const struct zl_region *r, size_t size)
{
	uint64_t from = zl_now_ns();
	int rc = 0;

	pthread_mutex_lock(&l->lock);
	for (;;) {
		uint64_t others = __atomic_load_n(&l->stats.ring_bytes,
						  __ATOMIC_RELAXED) -
				  r->size;

		if (l->halt)
			rc = -ECANCELED;
		if (rc || size + others <= l->opt.ring_bytes)
			break;
		if (drop_unused(l))
			continue;
		if (!others_in_use(l, slot))
			break;
		pthread_cond_wait(&l->space, &l->lock);
	}
	l->stats.wait_ring_ns += zl_now_ns() - from;
	pthread_mutex_unlock(&l->lock);
	return rc;
}

static int reserve(struct zl_loader *l, const struct zl_slot *slot,
		   struct zl_region *r, size_t size)
{
	int rc;

	if (size <= r->size)
		return 0;
	if (l->opt.ring_bytes) {
		rc = wait_for_bytes(l, slot, r, size);
		if (rc)
			return rc;
	} else {
		/* Batches differ a little: do not grow for each of them. */
		size += size / 8;
	}
	return zl_region_grow(l, r, size);
}

static int fail_source(struct zl_error *err, int rc, const struct zl_source *s,
		       const struct zr_error *e)
{
	zl_fail(err, rc, "stream \"%s\": %s", s->name, e->message);
	err->record = e->record;
	memcpy(err->stream, s->name, sizeof(s->name));
	return rc;
}

static int gather_ragged(struct zl_loader *l, struct zl_slot *slot, size_t i,
			 struct zr_error *e)
{
	struct zl_region *r = &slot->ragged[i];
	struct zl_array *a = &slot->batch.array[i];
	size_t count = slot->batch.count, at = align_up((count + 1) * 8);
	struct zr_ragged out = { 0 };
	int rc = zr_ragged_bound(l->source[i].container, slot->ids, count,
				 &out.values_size, &out.dims_size, e);

	if (rc)
		return rc;
	rc = reserve(l, slot, r,
		     2 * at + align_up(out.dims_size * 8) + out.values_size);
	if (rc) {
		snprintf(e->message, sizeof(e->message), "no memory");
		e->record = ZR_NONE;
		return rc;
	}
	out.count_size = count;
	out.offsets = a->offsets = (uint64_t *)(void *)r->base;
	out.dim_offsets = a->dim_offsets = (uint64_t *)(void *)(r->base + at);
	out.dims = a->dims = (uint64_t *)(void *)(r->base + 2 * at);
	out.values = a->data = r->base + 2 * at + align_up(out.dims_size * 8);
	rc = zr_gather_ragged(l->source[i].reader, slot->ids, count, &out, e);
	if (!rc)
		a->bytes = out.offsets[count];
	return rc;
}

static void shape_dense(const struct zl_source *s, struct zl_array *a,
			size_t count)
{
	a->shape.rank = s->item_shape.rank + 1;
	a->shape.dims[0] = count;
	memcpy(a->shape.dims + 1, s->item_shape.dims,
	       s->item_shape.rank * sizeof(a->shape.dims[0]));
	a->bytes = count * s->record_bytes;
}

static int gather_all(struct zl_loader *l, struct zl_slot *slot)
{
	struct zl_batch *b = &slot->batch;

	for (size_t i = 0; i < l->sources; i++) {
		const struct zl_source *s = &l->source[i];
		struct zr_error e = { .record = ZR_NONE };
		int rc;

		if (s->kind == ZR_DENSE)
			shape_dense(s, &b->array[i], b->count);
		if (i >= l->streams)
			continue;
		if (s->kind == ZR_DENSE)
			rc = zr_gather_dense(s->reader, slot->ids, b->count,
					     b->array[i].data,
					     b->array[i].bytes, &e);
		else
			rc = gather_ragged(l, slot, i, &e);
		if (rc)
			return fail_source(&slot->err, rc, s, &e);
	}
	return 0;
}

/* Take a record out of the batch, wherever it comes in it; returns how often
 * it was there. */
static size_t remove_id(struct zl_slot *slot, uint64_t id)
{
	size_t kept = 0, count = slot->batch.count;

	for (size_t i = 0; i < count; i++)
		if (slot->ids[i] != id)
			slot->ids[kept++] = slot->ids[i];
	slot->batch.count = kept;
	return count - kept;
}

static int fill_slot(struct zl_loader *l, struct zl_slot *slot,
		     struct zl_state *after, uint64_t *skipped)
{
	int rc = zl_ahead_take(l, slot, after);

	if (rc)
		return rc;
	for (;;) {
		size_t removed;

		rc = gather_all(l, slot);
		if (rc != -EBADMSG || !(l->opt.flags & ZL_SKIP))
			return rc;
		removed = remove_id(slot, slot->err.record);
		if (!removed)
			return rc;
		*skipped += removed;
	}
}

static struct zl_slot *free_slot(struct zl_loader *l)
{
	for (unsigned i = 0; i < l->slots; i++)
		if (l->slot[i].state == ZL_FREE)
			return &l->slot[i];
	return NULL;
}

/* Called with the lock held; NULL: the thread must end. */
static struct zl_slot *wait_for_slot(struct zl_loader *l)
{
	struct zl_slot *slot = free_slot(l);
	uint64_t from;

	if (!slot && !l->halt) {
		from = zl_now_ns();
		do
			pthread_cond_wait(&l->space, &l->lock);
		while (!l->halt && !(slot = free_slot(l)));
		l->stats.wait_ring_ns += zl_now_ns() - from;
	}
	return l->halt ? NULL : slot;
}

/* Called with the lock held, after slot->rc is known. */
static void hand_on(struct zl_loader *l, struct zl_slot *slot)
{
	if (!slot->rc && l->opt.transform) {
		slot->state = ZL_GATHERED;
		pthread_cond_signal(&l->work);
	} else {
		slot->state = ZL_READY;
		pthread_cond_broadcast(&l->ready);
	}
}

void *zl_gather_main(void *loader)
{
	struct zl_loader *l = loader;
	struct zl_state after;
	struct zl_slot *slot;
	int rc = 0;

	zl_work_for(l);
	/* What an earlier run had drawn is not of this one. */
	l->ahead.drawn = false;
	pthread_mutex_lock(&l->lock);
	while (!rc && (slot = wait_for_slot(l))) {
		uint64_t from = zl_now_ns(), skipped = 0;

		slot->state = ZL_FILLING;
		slot->refs = 1;
		slot->before = l->drawn;
		pthread_mutex_unlock(&l->lock);
		rc = fill_slot(l, slot, &after, &skipped);
		slot->rc = rc;
		slot->err.step = slot->batch.step;
		pthread_mutex_lock(&l->lock);
		l->drawn = after;
		l->stats.gather_ns += zl_now_ns() - from;
		l->stats.skipped += skipped;
		for (size_t i = 0; i < l->streams && !rc; i++)
			l->stats.bytes += slot->batch.array[i].bytes;
		hand_on(l, slot);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}
