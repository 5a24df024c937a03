/* SPDX-License-Identifier: BSD-2-Clause
 * Many records at once, Ragged: packed values, offsets and shapes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/copy.h"
#include "base/error.h"
#include "base/guard.h"
#include "base/pool.h"
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
		size_t size = (size_t)need;
		void *p = zr_pages_new(&size);

		if (!p)
			return -ENOMEM;
		free(b->block);
		b->block = p;
		b->block_size = size;
	}
	b->offsets = b->block;
	b->dim_offsets = b->offsets + words;
	b->dims = b->dim_offsets + words;
	b->values = (unsigned char *)(b->dims + dims);
	b->count_size = count;
	b->dims_size = (size_t)dims;
	b->values_size =
		b->block_size - (size_t)(b->values - (unsigned char *)b->block);
	return 0;
}

/* ---- Ranks not known: decode in place, then pack. */

static int one_unpacked(struct zr_gather *g, struct zr_lane *lane, size_t i,
			struct zr_error *err)
{
	struct zr_entry e;
	int rc = zr_locate(g->r->c, g->ids[i], &e, err);

	if (rc)
		return rc;
	return zr_fetch(g->r->c, lane, g->ids[i], &e,
			g->dst + g->out->offsets[i], err);
}

/* Records lie in `values` with their shape prefixes, record i at offsets[i].
 * Move each to its final place and its shape to dims. Final places are never
 * behind the present ones, so going up overwrites nothing that is needed. */
static int pack(const struct zr_container *c, const uint64_t *ids,
		struct zr_ragged *b, size_t count, uint64_t bytes,
		struct zr_error *err)
{
	uint64_t to = 0, dims = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t from = b->offsets[i];
		uint64_t end = i + 1 < count ? b->offsets[i + 1] : bytes;
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
	b->offsets[count] = to;
	b->dim_offsets[count] = dims;
	return 0;
}

static int gather_then_pack(struct zr_gather *g, struct zr_error *err)
{
	const struct zr_container *c = g->r->c;
	uint64_t bytes;
	int rc = add_up(c, g->ids, g->count, g->out->offsets, &bytes, err);

	if (rc)
		return rc;
	g->one = one_unpacked;
	g->err = err;
	rc = zr_gather_all(g, bytes);
	if (rc)
		return rc;
	return pack(c, g->ids, g->out, g->count, bytes, err);
}

/* ---- Ranks known: every record straight to its final place. */

/* Final places from the ranks that dim_offsets[i + 1] - dim_offsets[i] say.
 * Returns false if a record is too short for its rank, or dims too small. */
static bool plan_places(const struct zr_container *c, const uint64_t *ids,
			size_t count, struct zr_ragged *b)
{
	uint64_t at = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t rank = b->dim_offsets[i + 1] - b->dim_offsets[i];
		struct zr_entry e;

		if (zr_locate(c, ids[i], &e, NULL) || e.logic <= 1 + 8 * rank)
			return false;
		b->offsets[i] = at;
		at += e.logic - 1 - 8 * rank;
	}
	b->offsets[count] = at;
	return b->dim_offsets[count] <= b->dims_size;
}

/* Check the shape at p and put it into dims. A rank that is not the planned
 * one is -EAGAIN: the places are wrong. */
static int keep_shape(struct zr_gather *g, size_t i, const unsigned char *p,
		      uint32_t logic, struct zr_error *err)
{
	struct zr_ragged *b = g->out;
	struct zr_layout layout;
	int rc = zr_layout_decode(&layout, g->r->c, g->ids[i], p, logic, logic,
				  err);

	if (rc)
		return rc;
	if (layout.shape.rank != b->dim_offsets[i + 1] - b->dim_offsets[i])
		return -EAGAIN;
	memcpy(b->dims + b->dim_offsets[i], layout.shape.dims,
	       8 * (size_t)layout.shape.rank);
	return 0;
}

/* A raw record that is in memory. */
static int one_raw(struct zr_gather *g, struct zr_lane *lane, size_t i,
		   struct zr_error *err)
{
	const struct zr_container *c = g->r->c;
	const uint64_t *offsets = g->out->offsets;
	size_t len = (size_t)(offsets[i + 1] - offsets[i]);
	const unsigned char *p;
	struct zr_entry e;
	int rc = zr_locate(c, g->ids[i], &e, err);

	if (rc)
		return rc;
	p = c->data.bytes + e.offset;
	rc = zr_compare(c, lane, g->ids[i], p, e.logic, err);
	if (!rc)
		rc = keep_shape(g, i, p, e.logic, err);
	if (!rc)
		zr_copy_record(g->dst + offsets[i], p + (e.logic - len), len,
			       lane->stream);
	return rc;
}

/* A compressed record: decoded so that its elements come to their place. The
 * shape in front of them lands on the records before, which are decoded after
 * it (`down`); where it would reach those of the task before, which may be
 * another thread's, the record is decoded elsewhere and copied. */
static int one_packed(struct zr_gather *g, struct zr_lane *lane, size_t i,
		      struct zr_error *err)
{
	const struct zr_container *c = g->r->c;
	const uint64_t *offsets = g->out->offsets;
	size_t len = (size_t)(offsets[i + 1] - offsets[i]);
	unsigned char *p;
	struct zr_entry e;
	bool apart;
	int rc = zr_locate(c, g->ids[i], &e, err);

	if (rc)
		return rc;
	apart = offsets[i] - offsets[i - i % g->run] < e.logic - len;
	p = g->dst + offsets[i] - (apart ? 0 : e.logic - len);
	if (apart && zr_buffer_room(&lane->decoded, e.logic))
		return zr_fail(err, -ENOMEM, c->path,
			       "no memory for a record of %u bytes", e.logic);
	if (apart)
		p = lane->decoded.p;
	rc = zr_fetch(c, lane, g->ids[i], &e, p, err);
	if (!rc)
		rc = keep_shape(g, i, p, e.logic, err);
	if (!rc && apart)
		memcpy(g->dst + offsets[i], p + (e.logic - len), len);
	return rc;
}

/* The ranks of raw records that are in memory: one byte of each. */
static int look_at_ranks(const struct zr_container *c, const uint64_t *ids,
			 size_t count, struct zr_ragged *b)
{
	uint64_t dims = 0;
	struct zr_entry e;

	zr_prefetch(c, ids, count);
	for (size_t i = 0; i < count; i++)
		if (!zr_locate(c, ids[i], &e, NULL))
			__builtin_prefetch(c->data.bytes + e.offset);
	for (size_t i = 0; i < count; i++) {
		b->dim_offsets[i] = dims;
		if (!zr_locate(c, ids[i], &e, NULL))
			dims += c->data.bytes[e.offset];
	}
	b->dim_offsets[count] = dims;
	return 0;
}

static void planned_ranks(const struct zr_container *c, const uint64_t *ids,
			  size_t count, struct zr_ragged *b)
{
	uint64_t dims = 0;
	struct zr_shape shape;

	for (size_t i = 0; i < count; i++) {
		b->dim_offsets[i] = dims;
		zr_sums_shape(&c->sums, ids[i], &shape);
		dims += shape.rank;
	}
	b->dim_offsets[count] = dims;
}

/* All ranks as those gathered before; the first time, as the first one's. */
static bool guess_ranks(struct zr_reader *r, const uint64_t *ids, size_t count,
			struct zr_ragged *b)
{
	struct zr_shape shape;

	if (r->rank == ZR_RANK_UNKNOWN &&
	    !zr_record_shape(r, ids[0], &shape, NULL, NULL))
		r->rank = (int)shape.rank;
	if (r->rank < 0)
		return false;
	for (size_t i = 0; i <= count; i++)
		b->dim_offsets[i] = i * (uint64_t)r->rank;
	return true;
}

/* Fewer and longer tasks than for other gathers: each copies its first. */
#define PACKED_TASKS_PER_THREAD 8

/* Returns -EAGAIN if the ranks are not known or turn out to be others. */
static int gather_packed(struct zr_gather *g, uint64_t bytes)
{
	const struct zr_container *c = g->r->c;
	int rc = 0;

	if (!g->count)
		return -EAGAIN;
	if (c->meta.codec == ZR_RAW) {
		if (!c->data.bytes)
			return -EAGAIN;
		if (c->sums.file)
			planned_ranks(c, g->ids, g->count, g->out);
		else
			ZR_GUARDED(c, rc,
				   look_at_ranks(c, g->ids, g->count, g->out),
				   -EAGAIN);
		g->one = one_raw;
	} else {
		size_t tasks =
			zr_executor_threads(g->r->ex) * PACKED_TASKS_PER_THREAD;

		if (c->sums.file)
			planned_ranks(c, g->ids, g->count, g->out);
		else if (!guess_ranks(g->r, g->ids, g->count, g->out))
			return -EAGAIN;
		g->one = one_packed;
		g->down = true;
		g->run = (g->count - 1) / tasks + 1;
	}
	if (rc || !plan_places(c, g->ids, g->count, g->out))
		return -EAGAIN;
	rc = zr_gather_all(g, bytes);
	if (rc == -EAGAIN && g->down)
		g->r->rank = ZR_RANK_MIXED;
	g->down = false;
	g->run = 0;
	return rc;
}

int zr_gather_ragged(struct zr_reader *r, const uint64_t *ids, size_t count,
		     struct zr_ragged *out, struct zr_error *err)
{
	bool own = !out->block && (out->values || out->offsets);
	struct zr_gather g = { .r = r, .ids = ids, .count = count, .out = out };
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
	g.dst = out->values;
	rc = gather_packed(&g, bytes);
	/* Any failure: the other way finds the first bad record. */
	if (rc)
		rc = gather_then_pack(&g, err);
	if (!rc)
		out->count = count;
	return rc;
}

void zr_ragged_free(struct zr_ragged *batch)
{
	if (!batch || !batch->block)
		return;
	free(batch->block);
	memset(batch, 0, sizeof(*batch));
}
