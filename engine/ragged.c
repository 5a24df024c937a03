/* SPDX-License-Identifier: BSD-2-Clause
 * Many records at once, Ragged: packed values, offsets and shapes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "error.h"
#include "gather.h"

/* Check every entry and add up what the records decode to; `places` (may be
 * NULL) receives where each one starts in that sum. Every dimension takes 8
 * of these bytes, so they bound the shapes as well. */
static int add_up(const struct zr_container *c, const uint64_t *ids,
		  size_t count, uint64_t *places, uint64_t *bytes,
		  struct zr_error *err)
{
	uint64_t sum = 0;
	struct zr_entry e;
	int rc;

	*bytes = 0;
	if (c->meta.kind != ZR_RAGGED)
		return zr_fail(err, -EINVAL, c->path,
			       "is Dense: gather it with zr_gather_dense");
	for (size_t i = 0; i < count; i++) {
		rc = zr_locate(c, ids[i], &e, err);
		if (rc)
			return rc;
		if (places)
			places[i] = sum;
		sum += e.logic;
	}
	*bytes = sum;
	return 0;
}

static uint64_t dims_bound(uint64_t bytes, size_t count)
{
	uint64_t by_rank = (uint64_t)count * ZR_RANK_MAX;

	return bytes / 8 < by_rank ? bytes / 8 : by_rank;
}

int zr_ragged_bound(const struct zr_container *c, const uint64_t *ids,
		    size_t count, size_t *values_size, size_t *dims_size,
		    struct zr_error *err)
{
	uint64_t bytes;
	int rc = add_up(c, ids, count, NULL, &bytes, err);

	if (rc)
		return rc;
	*values_size = (size_t)bytes;
	*dims_size = (size_t)dims_bound(bytes, count);
	return 0;
}

/* Point the batch into its block: offsets, dim_offsets, dims, values. */
static int make_room(struct zr_ragged *b, size_t count, uint64_t bytes)
{
	uint64_t dims = dims_bound(bytes, count), need;
	size_t words = count + 1;

	if (!zr_mul(8, 2 * (uint64_t)words + dims, &need) ||
	    !zr_add(need, bytes, &need) || !zr_fits_size(need))
		return -ENOMEM;
	if (need > b->block_size) {
		void *p = malloc((size_t)need);

		if (!p)
			return -ENOMEM;
		free(b->block);
		b->block = p;
		b->block_size = (size_t)need;
	}
	b->offsets = b->block;
	b->dim_offsets = b->offsets + words;
	b->dims = b->dim_offsets + words;
	b->values = (unsigned char *)(b->dims + dims);
	b->count_size = count;
	b->dims_size = (size_t)dims;
	b->values_size = b->block_size - (size_t)(b->values -
						  (unsigned char *)b->block);
	return 0;
}

static int ragged_one(struct zr_gather *g, struct zr_lane *lane, size_t i,
		      struct zr_error *err)
{
	struct zr_entry e;
	int rc = zr_locate(g->r->c, g->ids[i], &e, err);

	if (rc)
		return rc;
	return zr_fetch(g->r->c, lane, g->ids[i], &e, g->dst + g->places[i],
			err);
}

/* Records lie in `values` with their shape prefixes, record i at offsets[i].
 * Move each to its final place and its shape to dims. Final places are never
 * behind the present ones, so going up overwrites nothing that is needed. */
static int pack(const struct zr_container *c, const uint64_t *ids,
		struct zr_ragged *b, uint64_t bytes, struct zr_error *err)
{
	uint64_t to = 0, dims = 0;

	for (size_t i = 0; i < b->count; i++) {
		uint64_t from = b->offsets[i];
		uint64_t end = i + 1 < b->count ? b->offsets[i + 1] : bytes;
		uint64_t logic = end - from;
		struct zr_layout layout;
		int rc;

		rc = zr_layout_decode(&layout, c, ids[i], b->values + from,
				      (size_t)logic, (uint32_t)logic, err);
		if (rc)
			return rc;
		if (layout.shape.rank > b->dims_size - dims)
			return zr_fail(err, -EINVAL, c->path,
				       "dims has no room for the shapes");
		memcpy(b->dims + dims, layout.shape.dims,
		       8 * (size_t)layout.shape.rank);
		memmove(b->values + to, b->values + from + layout.prefix,
			(size_t)layout.bytes);
		b->offsets[i] = to;
		b->dim_offsets[i] = dims;
		to += layout.bytes;
		dims += layout.shape.rank;
	}
	b->offsets[b->count] = to;
	b->dim_offsets[b->count] = dims;
	return 0;
}

int zr_gather_ragged(struct zr_reader *r, const uint64_t *ids, size_t count,
		     struct zr_ragged *out, struct zr_error *err)
{
	bool own = !out->block && (out->values || out->offsets);
	struct zr_gather g = { .r = r, .ids = ids, .count = count,
			       .one = ragged_one, .err = err };
	uint64_t bytes;
	int rc = add_up(r->c, ids, count, NULL, &bytes, err);

	out->count = 0;
	if (rc)
		return rc;
	if (!own && make_room(out, count, bytes))
		return zr_fail(err, -ENOMEM, r->c->path,
			       "no memory for %zu records of %llu bytes", count,
			       (unsigned long long)bytes);
	if (own && (out->count_size < count || out->values_size < bytes))
		return zr_fail_at(err, -EINVAL, r->c->path,
				  (struct zr_facts){ ZR_NONE, ZR_NONE, bytes,
						     out->values_size },
				  "the buffers are too small: values must have "
				  "%llu bytes, offsets %zu entries",
				  (unsigned long long)bytes, count + 1);
	rc = add_up(r->c, ids, count, out->offsets, &bytes, err);
	if (rc)
		return rc;
	g.dst = out->values;
	g.places = out->offsets;
	rc = zr_gather_all(&g, bytes);
	if (rc)
		return rc;
	out->count = count;
	rc = pack(r->c, ids, out, bytes, err);
	if (rc)
		out->count = 0;
	return rc;
}

void zr_ragged_free(struct zr_ragged *batch)
{
	if (!batch || !batch->block)
		return;
	free(batch->block);
	memset(batch, 0, sizeof(*batch));
}
