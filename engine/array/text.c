/* SPDX-License-Identifier: BSD-2-Clause
 * The layout of an array as text and as JSON. */
#include <errno.h>
#include <string.h>

#include "element.h"
#include "out.h"

static void begin(struct zr_out *o, zr_put_fn put, void *ctx)
{
	o->put = put;
	o->ctx = ctx;
	o->rc = 0;
	o->len = 0;
}

static int end(struct zr_out *o)
{
	zr_out_flush(o);
	return o->rc;
}

int zr_text(const struct zr_dtype *dtype, const struct zr_shape *shape,
	    const void *elements, zr_put_fn put, void *ctx)
{
	const unsigned char *p = elements;
	uint64_t items, line = 1, block = 0;
	uint32_t rank = shape->rank;
	struct zr_element e;
	struct zr_out o;

	if (zr_shape_size(dtype, shape, &items, NULL))
		return -EINVAL;
	if (items && rank)
		line = shape->dims[rank - 1];
	if (items && rank > 2)
		block = line * shape->dims[rank - 2];
	begin(&o, put, ctx);
	zr_element_init(&e, dtype, false);
	for (uint64_t i = 0; i < items && !o.rc; i++, p += e.size) {
		e.write(&o, &e, p);
		if ((i + 1) % line) {
			zr_out_char(&o, ' ');
			continue;
		}
		zr_out_char(&o, '\n');
		if (block && (i + 1) % block == 0 && i + 1 < items)
			zr_out_char(&o, '\n');
	}
	return end(&o);
}

static void repeat(struct zr_out *o, char c, uint32_t count)
{
	while (count--)
		zr_out_char(o, c);
}

/* Count one leaf more in `at`. Returns how many lists it was the last of. */
static uint32_t advance(const struct zr_shape *shape, uint32_t depth,
			uint64_t *at)
{
	uint32_t full = 0;

	while (full < depth &&
	       ++at[depth - 1 - full] == shape->dims[depth - 1 - full]) {
		at[depth - 1 - full] = 0;
		full++;
	}
	return full;
}

/* The lists down to the first dimension of 0 are not empty: below them the
 * leaves are "[]" instead of elements. */
int zr_json(const struct zr_dtype *dtype, const struct zr_shape *shape,
	    const void *elements, zr_put_fn put, void *ctx)
{
	const unsigned char *p = elements;
	uint64_t at[ZR_RANK_MAX] = { 0 };
	uint32_t depth = 0, full = 0;
	struct zr_element e;
	struct zr_out o;
	bool empty;

	if (zr_shape_size(dtype, shape, NULL, NULL))
		return -EINVAL;
	while (depth < shape->rank && shape->dims[depth])
		depth++;
	empty = depth < shape->rank;
	begin(&o, put, ctx);
	zr_element_init(&e, dtype, true);
	repeat(&o, '[', depth);
	do {
		if (empty) {
			zr_out_text(&o, "[]");
		} else {
			e.write(&o, &e, p);
			p += e.size;
		}
		full = advance(shape, depth, at);
		repeat(&o, ']', full);
		if (full < depth) {
			zr_out_text(&o, ", ");
			repeat(&o, '[', full);
		}
	} while (full < depth && !o.rc);
	return end(&o);
}
