/* SPDX-License-Identifier: BSD-2-Clause
 * The memory of the ring: slots, and the pages that batches lie in. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "loader.h"

#define HUGE ((size_t)2 << 20)
#define PAGE ((size_t)4096)

void zl_region_drop(struct zl_loader *l, struct zl_region *r)
{
	if (!r->base)
		return;
	munmap(r->base, r->size);
	__atomic_fetch_sub(&l->stats.ring_bytes, r->size, __ATOMIC_RELAXED);
	if (r->pinned)
		__atomic_fetch_sub(&l->stats.pinned_bytes, r->size,
				   __ATOMIC_RELAXED);
	*r = (struct zl_region){ 0 };
}

/* Map `size` bytes at a multiple of `align`. */
static unsigned char *map_aligned(size_t size, size_t align)
{
	unsigned char *p =
		mmap(NULL, size + align, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t head;

	if (p == MAP_FAILED)
		return NULL;
	head = (align - (uintptr_t)p % align) % align;
	if (head)
		munmap(p, head);
	if (align - head)
		munmap(p + head + size, align - head);
	return p + head;
}

int zl_region_grow(struct zl_loader *l, struct zl_region *r, size_t size)
{
	size_t align = size >= HUGE ? HUGE : PAGE;

	if (size <= r->size)
		return 0;
	zl_region_drop(l, r);
	if (size > SIZE_MAX / 4)
		return -ENOMEM;
	size = (size + align - 1) & ~(align - 1);
	r->base = map_aligned(size, align);
	if (!r->base)
		return -ENOMEM;
	r->size = size;
	if (align == HUGE)
		madvise(r->base, size, MADV_HUGEPAGE);
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
	if (!l->slot)
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
			zl_region_drop(l, &slot->ragged[j]);
		zl_region_drop(l, &slot->dense);
		free(slot->ragged);
		free(slot->batch.array);
		free(slot->ids);
	}
	free(l->slot);
	free(l->ahead.ids);
}
