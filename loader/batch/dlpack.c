/* SPDX-License-Identifier: BSD-2-Clause
 * Describes parts of a batch as DLPack tensors that hold its slot. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "slot.h"

/* With its shape; `managed` comes first, so that one free does. */
struct tensor {
	struct zl_dl_managed managed;
	struct zl_slot *slot;
	int64_t shape[];
};

static void delete_tensor(struct zl_dl_managed *self)
{
	struct tensor *t = self->manager_ctx;

	zl_slot_put(t->slot);
	free(t);
}

static int element(const struct zr_dtype *d, struct zl_dl_tensor *t)
{
	static const char kinds[] = "iufcb";
	static const uint8_t codes[] = { 0, 1, 2, 5, 6 };
	const char *kind = strchr(kinds, d->kind);
	uint32_t part = d->kind == 'c' ? d->itemsize / 2 : d->itemsize;

	if (!d->kind || !kind || part > 8 || d->order == '>')
		return -ENOTSUP;
	t->dtype.code = codes[kind - kinds];
	t->dtype.bits = (uint8_t)(d->itemsize * 8);
	t->dtype.lanes = 1;
	return 0;
}

static struct tensor *new_tensor(struct zl_slot *slot, uint32_t ndim)
{
	struct tensor *t = calloc(1, sizeof(*t) + ndim * sizeof(t->shape[0]));

	if (!t)
		return NULL;
	t->slot = slot;
	t->managed.manager_ctx = t;
	t->managed.deleter = delete_tensor;
	t->managed.tensor.device.type = 1;
	t->managed.tensor.ndim = (int32_t)ndim;
	t->managed.tensor.shape = t->shape;
	return t;
}

/* The part as bytes, type and, for one dimension, length. */
static int find_part(const struct zl_batch *batch, size_t array,
		     enum zl_part part, struct zl_dl_tensor *out,
		     uint64_t *length)
{
	static const struct zr_dtype u64 = { "<u8", 'u', '<', 8 };
	const struct zl_array *a;
	union {
		const uint64_t *from;
		void *to;
	} ids = { batch->ids };

	if (part == ZL_IDS) {
		out->data = ids.to;
		*length = batch->count;
		return element(&u64, out);
	}
	if (array >= batch->arrays || (unsigned)part > ZL_IDS)
		return -EINVAL;
	a = &batch->array[array];
	if (part != ZL_DATA && a->kind == ZR_DENSE)
		return -EINVAL;
	if (part == ZL_DATA) {
		out->data = a->data;
		*length = a->bytes / a->dtype.itemsize;
		return element(&a->dtype, out);
	}
	out->data = part == ZL_OFFSETS ? a->offsets
		    : part == ZL_DIMS  ? a->dims
				       : a->dim_offsets;
	*length = batch->count + 1;
	if (part == ZL_DIMS)
		*length = batch->count ? a->dim_offsets[batch->count] : 0;
	return element(&u64, out);
}

int zl_dlpack(struct zl_batch *batch, size_t array, enum zl_part part,
	      struct zl_dl_managed **out)
{
	struct zl_slot *slot = (struct zl_slot *)(void *)batch;
	const struct zr_shape *shape = NULL;
	struct zl_dl_tensor found = { 0 };
	struct tensor *t;
	uint64_t length;
	int rc;

	*out = NULL;
	rc = find_part(batch, array, part, &found, &length);
	if (rc)
		return rc;
	if (part == ZL_DATA && batch->array[array].kind == ZR_DENSE)
		shape = &batch->array[array].shape;
	t = new_tensor(slot, shape ? shape->rank : 1);
	if (!t)
		return -ENOMEM;
	t->managed.tensor.data = found.data;
	t->managed.tensor.dtype = found.dtype;
	t->shape[0] = (int64_t)length;
	for (uint32_t i = 0; shape && i < shape->rank; i++)
		t->shape[i] = (int64_t)shape->dims[i];
	zl_slot_hold(slot);
	*out = &t->managed;
	return 0;
}
