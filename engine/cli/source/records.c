/* SPDX-License-Identifier: BSD-2-Clause
 * Records of a source, batch after batch. */
#include <stdlib.h>
#include <string.h>

#include "npz.h"
#include "source.h"

#define BATCH_BYTES ((uint64_t)8 << 20)
#define BATCH_RECORDS ((size_t)16384)

static int room_for(struct batch *b, uint64_t bytes)
{
	unsigned char *p;

	if (bytes <= b->items_size)
		return CLI_OK;
	p = realloc(b->items, (size_t)bytes);
	if (!p)
		return cli_fail("no memory for %llu bytes of records",
				(unsigned long long)bytes);
	b->items = p;
	b->items_size = (size_t)bytes;
	return CLI_OK;
}

/* Offsets and shapes for up to `count` records of a Ragged batch. */
static int room_for_shapes(struct batch *b, size_t count)
{
	struct zr_ragged *r = &b->ragged;
	uint64_t *p;

	if (r->count_size >= count && r->offsets)
		return CLI_OK;
	free(r->offsets);
	r->count_size = 0;
	p = malloc((2 * (count + 1) + count * ZR_RANK_MAX) * 8);
	r->offsets = p;
	if (!p)
		return cli_fail("no memory");
	r->dim_offsets = p + count + 1;
	r->dims = r->dim_offsets + count + 1;
	r->count_size = count;
	return CLI_OK;
}

static void add_shape(struct batch *b, const struct zr_shape *shape,
		      uint64_t bytes)
{
	struct zr_ragged *r = &b->ragged;
	size_t i = r->count++;

	if (i == 0)
		r->offsets[0] = r->dim_offsets[0] = 0;
	memcpy(r->dims + r->dim_offsets[i], shape->dims,
	       8 * (size_t)shape->rank);
	r->offsets[i + 1] = r->offsets[i] + bytes;
	r->dim_offsets[i + 1] = r->dim_offsets[i] + shape->rank;
	b->count = r->count;
}

/* `count` records of one shape, whose elements are in b->items. */
static int add_uniform(struct source *s, struct batch *b, size_t count,
		       uint64_t each)
{
	b->count = count;
	if (s->kind == ZR_DENSE)
		return CLI_OK;
	if (room_for_shapes(b, BATCH_RECORDS))
		return CLI_FAILED;
	for (size_t i = 0; i < count; i++)
		add_shape(b, &s->item_shape, each);
	b->ragged.values = b->items;
	return CLI_OK;
}

static size_t most_of(const struct source *s)
{
	return s->batch_most && s->batch_most < BATCH_RECORDS ? s->batch_most
							      : BATCH_RECORDS;
}

static size_t batch_of(const struct source *s, uint64_t each, uint64_t left)
{
	uint64_t n = each ? BATCH_BYTES / each : BATCH_RECORDS;

	if (n > most_of(s))
		n = most_of(s);
	if (!n)
		n = 1;
	return (size_t)(n < left ? n : left);
}

/* Does the array have the dtype and the shape that was seen before? */
static bool as_before(const struct source *s)
{
	const struct zr_npy *npy = &s->in.npy;
	uint32_t axis = s->from == SOURCE_AXIS0;
	uint32_t rank = s->item_shape.rank;

	if (strcmp(npy->dtype.str, s->dtype.str))
		return false;
	if (!s->uniform)
		return npy->data_bytes > 0;
	return npy->shape.rank == rank + axis &&
	       !memcmp(npy->shape.dims + axis, s->item_shape.dims,
		       8 * (size_t)rank);
}

static int open_next(struct source *s)
{
	int status = s->npz ? input_open_member(&s->in, s->npz, s->at)
			    : input_open(&s->in, s->files.path[s->at]);

	s->at++;
	s->open = !status;
	if (status)
		return status;
	if (!as_before(s))
		return cli_fail("%s: changed while it was read", s->in.name);
	s->left = s->from == SOURCE_AXIS0 ? s->in.npy.shape.dims[0] : 1;
	return CLI_OK;
}

static int close_input(struct source *s)
{
	int status = input_end(&s->in);

	input_close(&s->in);
	s->open = false;
	return status;
}

/* Open inputs until one has records left; s->open is false at the end. */
static int find_input(struct source *s)
{
	size_t count = s->npz ? npz_count(s->npz) : s->files.count;
	int status = CLI_OK;

	while (!status && (!s->open || !s->left)) {
		if (s->open)
			status = close_input(s);
		else if (s->at == count)
			break;
		else
			status = open_next(s);
	}
	return status;
}

static int record_bytes(const struct source *s, uint64_t *each)
{
	if (zr_shape_size(&s->dtype, &s->item_shape, NULL, each))
		return cli_fail("%s: a record of it has more than 2^63 bytes",
				s->in.name);
	return CLI_OK;
}

static int next_axis0(struct source *s, struct batch *b)
{
	uint64_t each;
	size_t n;

	if (find_input(s))
		return CLI_FAILED;
	if (!s->open)
		return CLI_OK;
	if (record_bytes(s, &each))
		return CLI_FAILED;
	n = batch_of(s, each, s->left);
	if (room_for(b, n * each) ||
	    input_read(&s->in, b->items, n * (size_t)each))
		return CLI_FAILED;
	s->left -= n;
	return add_uniform(s, b, n, each);
}

/* Whole arrays are records. */
static int next_whole(struct source *s, struct batch *b)
{
	uint64_t bytes = 0;

	if (room_for_shapes(b, BATCH_RECORDS))
		return CLI_FAILED;
	while (b->count < most_of(s)) {
		const struct zr_npy *npy = &s->in.npy;

		if (find_input(s))
			return CLI_FAILED;
		if (!s->open)
			break;
		if (b->count && bytes + npy->data_bytes > BATCH_BYTES)
			break;
		if (room_for(b, bytes + npy->data_bytes) ||
		    input_read(&s->in, b->items + bytes,
			       (size_t)npy->data_bytes))
			return CLI_FAILED;
		add_shape(b, &npy->shape, npy->data_bytes);
		bytes += npy->data_bytes;
		s->left = 0;
	}
	b->ragged.values = b->items;
	return CLI_OK;
}

static int next_container(struct source *s, struct batch *b)
{
	uint64_t ids[BATCH_RECORDS], bytes = 0;
	uint64_t left = s->records - s->next_id;
	struct zr_error err;
	size_t n = 0;

	while (n < left && n < most_of(s)) {
		uint64_t one;

		ids[n] = s->next_id;
		if (s->selected)
			zr_selection_ids(&s->sel, s->next_id, 1, &ids[n]);
		one = zr_record_bound(s->c, ids[n]);
		if (n && bytes + one > BATCH_BYTES)
			break;
		bytes += one;
		n++;
		s->next_id++;
	}
	if (zr_info(s->c)->kind == ZR_DENSE) {
		uint64_t each = zr_info(s->c)->record_bytes;

		if (room_for(b, n * each))
			return CLI_FAILED;
		if (zr_gather_dense(s->r, ids, n, b->items, b->items_size,
				    &err))
			return cli_error(&err);
		return add_uniform(s, b, n, each);
	}
	if (zr_gather_ragged(s->r, ids, n, &b->ragged, &err))
		return cli_error(&err);
	b->count = n;
	return CLI_OK;
}

static int next_lines(struct source *s, struct batch *b)
{
	uint64_t bytes = 0;
	int status = room_for_shapes(b, BATCH_RECORDS);

	while (!status && b->count < most_of(s) && bytes < BATCH_BYTES) {
		struct zr_shape shape = { 1, { 0 } };
		const char *text;
		size_t len;

		status = lines_next(&s->lines, &text, &len);
		if (status || !text)
			break;
		shape.dims[0] = len;
		status = room_for(b, bytes + len);
		if (status)
			break;
		memcpy(b->items + bytes, text, len);
		add_shape(b, &shape, len);
		bytes += len;
	}
	b->ragged.values = b->items;
	return status;
}

int source_next(struct source *s, struct batch *b)
{
	b->count = 0;
	b->ragged.count = 0;
	switch (s->from) {
	case SOURCE_AXIS0:
		return next_axis0(s, b);
	case SOURCE_WHOLE:
		return next_whole(s, b);
	case SOURCE_CONTAINER:
		return next_container(s, b);
	case SOURCE_LINES:
		return next_lines(s, b);
	}
	return CLI_OK;
}

static int skip_in_arrays(struct source *s, uint64_t count)
{
	uint64_t each;

	while (count) {
		uint64_t n;

		if (find_input(s))
			return CLI_FAILED;
		if (!s->open)
			return CLI_OK;
		n = s->left < count ? s->left : count;
		if (s->from == SOURCE_WHOLE)
			each = s->in.npy.data_bytes;
		else if (record_bytes(s, &each))
			return CLI_FAILED;
		if (input_skip(&s->in, n * each))
			return CLI_FAILED;
		s->left -= n;
		count -= n;
	}
	return CLI_OK;
}

int source_skip(struct source *s, uint64_t count)
{
	const char *text = "";
	size_t len;
	int status = CLI_OK;

	if (s->from == SOURCE_CONTAINER) {
		s->next_id += count;
		return CLI_OK;
	}
	if (s->from != SOURCE_LINES)
		return skip_in_arrays(s, count);
	for (; count && text && !status; count--)
		status = lines_next(&s->lines, &text, &len);
	return status;
}

void batch_free(struct batch *b)
{
	if (b->ragged.block)
		zr_ragged_free(&b->ragged);
	else
		free(b->ragged.offsets);
	free(b->items);
	memset(b, 0, sizeof(*b));
}

size_t batch_record(const struct source *s, const struct batch *b, size_t i,
		    const unsigned char **elements)
{
	uint64_t each = 0;

	if (s->kind == ZR_RAGGED) {
		*elements = b->ragged.values + b->ragged.offsets[i];
		return (size_t)(b->ragged.offsets[i + 1] -
				b->ragged.offsets[i]);
	}
	zr_shape_size(&s->dtype, &s->item_shape, NULL, &each);
	*elements = b->items + i * (size_t)each;
	return (size_t)each;
}
