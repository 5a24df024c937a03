/* SPDX-License-Identifier: BSD-2-Clause
 * One record at a time: its shape, its elements, a part of them. */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/guard.h"

/* A compressed record of at most one block is decoded whole for its shape:
 * its first block is all of it. */
#define WHOLE_BYTES ((uint32_t)128 << 10)

int zr_reader_new(struct zr_reader **out, const struct zr_container *c,
		  struct zr_executor *ex)
{
	unsigned lanes = zr_executor_threads(ex);
	struct zr_reader *r;

	*out = NULL;
	r = calloc(1, sizeof(*r) + lanes * sizeof(r->lane[0]));
	if (!r)
		return -ENOMEM;
	/* The program may have replaced the handler since zr_open. */
	if (c->data.mapped)
		(void)zr_guard_install();
	r->c = c;
	r->ex = ex;
	r->lanes = lanes;
	r->record_id = ZR_NONE;
	r->rank = ZR_RANK_UNKNOWN;
	for (unsigned i = 0; i < lanes; i++)
		r->lane[i].check = c->check;
	*out = r;
	return 0;
}

void zr_reader_free(struct zr_reader *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->lanes; i++) {
		zr_decoder_free(r->lane[i].decoder);
		free(r->lane[i].stored.p);
		free(r->lane[i].decoded.p);
	}
	free(r->record.p);
	free(r);
}

static void trim(struct zr_buffer *b, size_t keep)
{
	if (b->size <= keep)
		return;
	free(b->p);
	*b = (struct zr_buffer){ NULL, 0 };
}

void zr_reader_trim(struct zr_reader *r, size_t keep)
{
	r->record_id = ZR_NONE;
	trim(&r->record, keep);
	for (unsigned i = 0; i < r->lanes; i++) {
		trim(&r->lane[i].stored, keep);
		trim(&r->lane[i].decoded, keep);
		/* What libzstd holds is not told, and cheap to make again. */
		zr_decoder_free(r->lane[i].decoder);
		r->lane[i].decoder = NULL;
	}
}

/* Decode record `id` into r->record, unless it is there. */
static int keep_record(struct zr_reader *r, uint64_t id,
		       const struct zr_entry *e, struct zr_error *err)
{
	int rc;

	if (r->record_id == id)
		return 0;
	r->record_id = ZR_NONE;
	if (zr_buffer_room(&r->record, e->logic))
		return zr_fail(err, -ENOMEM, r->c->path,
			       "record %llu: no memory for its %u bytes",
			       (unsigned long long)id, e->logic);
	rc = zr_fetch(r->c, &r->lane[0], id, e, r->record.p, err);
	if (!rc)
		r->record_id = id;
	return rc;
}

/* The shape that the sidecar says; it must fit the length in the table. */
static int planned_layout(const struct zr_container *c, uint64_t id,
			  const struct zr_entry *e, struct zr_layout *out,
			  struct zr_error *err)
{
	bool ok = zr_sums_shape(&c->sums, id, &out->shape);

	out->prefix = 1 + 8 * (size_t)out->shape.rank;
	if (ok &&
	    !zr_shape_size(&c->meta.dtype, &out->shape, NULL, &out->bytes) &&
	    out->bytes && out->bytes + out->prefix == e->logic)
		return 0;
	return zr_fail_at(err, -EBADMSG, c->path,
			  (struct zr_facts){ id, ZR_NONE, ZR_NONE, e->logic },
			  "record %llu: its shape in check.zr is not one of "
			  "its %u bytes",
			  (unsigned long long)id, e->logic);
}

/* Where the elements are and what shape they have, decoding no more than the
 * beginning of a long record. */
static int find_layout(struct zr_reader *r, uint64_t id,
		       const struct zr_entry *e, struct zr_layout *out,
		       struct zr_error *err)
{
	size_t len = e->logic < ZR_PREFIX_MAX ? e->logic : ZR_PREFIX_MAX;
	unsigned char prefix[ZR_PREFIX_MAX];
	int rc = -ENOTSUP;

	if (r->c->meta.kind == ZR_DENSE) {
		out->shape = r->c->meta.item_shape;
		out->prefix = 0;
		out->bytes = e->logic;
		return 0;
	}
	if (r->c->sums.file)
		return planned_layout(r->c, id, e, out, err);
	if (r->record_id != id &&
	    (r->c->meta.codec == ZR_RAW || e->logic > WHOLE_BYTES)) {
		rc = zr_fetch_prefix(r->c, &r->lane[0], id, e, prefix, len,
				     err);
		if (!rc)
			return zr_layout_decode(out, r->c, id, prefix, len,
						e->logic, err);
	}
	if (rc == -ENOTSUP)
		rc = keep_record(r, id, e, err);
	if (rc)
		return rc;
	return zr_layout_decode(out, r->c, id, r->record.p, e->logic, e->logic,
				err);
}

/* What reading record `id` gave, or that the file was cut. Then nothing of it
 * is kept. */
static int unless_cut(struct zr_reader *r, int rc, uint64_t id,
		      struct zr_error *err)
{
	rc = zr_unless_cut(rc, r->c, &id, 1, err);
	if (rc)
		r->record_id = ZR_NONE;
	return rc;
}

int zr_record_shape(struct zr_reader *r, uint64_t id, struct zr_shape *shape,
		    uint64_t *bytes, struct zr_error *err)
{
	struct zr_layout layout;
	struct zr_entry e;
	int rc = zr_locate(r->c, id, &e, err);

	if (!rc)
		ZR_GUARDED(r->c, rc, find_layout(r, id, &e, &layout, err),
			   zr_fault(r->c, id, err));
	if (r->c->meta.kind == ZR_RAGGED && !r->c->sums.file)
		rc = unless_cut(r, rc, id, err);
	if (rc)
		return rc;
	if (shape)
		*shape = layout.shape;
	if (bytes)
		*bytes = layout.bytes;
	return 0;
}

/* Bytes [offset, offset + len) of the elements. */
static int read_span(struct zr_reader *r, uint64_t id, const struct zr_entry *e,
		     const struct zr_layout *layout, uint64_t offset, void *dst,
		     size_t len, struct zr_error *err)
{
	unsigned char prefix[ZR_PREFIX_MAX];
	bool proven = !layout->prefix || !r->c->sums.file;
	struct zr_layout seen;
	int rc = 0;

	if (r->c->meta.codec == ZR_RAW && !r->c->check) {
		if (!proven)
			rc = zr_fetch_part(r->c, id, e, 0, prefix,
					   layout->prefix, err);
		if (!rc && !proven)
			rc = zr_layout_decode(&seen, r->c, id, prefix,
					      layout->prefix, e->logic, err);
		if (rc)
			return rc;
		return zr_fetch_part(r->c, id, e, layout->prefix + offset, dst,
				     len, err);
	}
	rc = keep_record(r, id, e, err);
	if (!rc && !proven)
		rc = zr_layout_decode(&seen, r->c, id, r->record.p, e->logic,
				      e->logic, err);
	if (!rc)
		memcpy(dst, r->record.p + layout->prefix + offset, len);
	return rc;
}

/* Decode a Ragged record in the caller's buffer, its shape first, and move the
 * elements to the front: no second buffer of its size. */
static int read_in_place(struct zr_reader *r, uint64_t id,
			 const struct zr_entry *e, unsigned char *dst,
			 struct zr_layout *out, struct zr_error *err)
{
	int rc = zr_fetch(r->c, &r->lane[0], id, e, dst, err);

	if (!rc)
		rc = zr_layout_decode(out, r->c, id, dst, e->logic, e->logic,
				      err);
	if (!rc)
		memmove(dst, dst + out->prefix, (size_t)out->bytes);
	return rc;
}

/* Any record, into room for its elements alone. */
static int read_fitting(struct zr_reader *r, uint64_t id,
			const struct zr_entry *e, void *dst, size_t size,
			struct zr_layout *out, struct zr_error *err)
{
	int rc = find_layout(r, id, e, out, err);

	if (rc)
		return rc;
	if (out->bytes > size)
		return zr_fail_at(
			err, -EINVAL, r->c->path,
			(struct zr_facts){ id, ZR_NONE, out->bytes, size },
			"record %llu has %llu bytes, the buffer %zu",
			(unsigned long long)id, (unsigned long long)out->bytes,
			size);
	/* Straight into the caller's buffer where nothing precedes. */
	if (!out->prefix && r->record_id != id)
		return zr_fetch(r->c, &r->lane[0], id, e, dst, err);
	return read_span(r, id, e, out, 0, dst, (size_t)out->bytes, err);
}

static int read_record(struct zr_reader *r, uint64_t id, void *dst, size_t size,
		       uint64_t *bytes, struct zr_shape *shape,
		       struct zr_error *err)
{
	bool ragged = r->c->meta.kind == ZR_RAGGED;
	bool in_parts = r->c->meta.codec == ZR_RAW && !r->c->check;
	struct zr_layout layout;
	struct zr_entry e;
	int rc = zr_locate(r->c, id, &e, err);

	if (rc)
		return rc;
	if (ragged && !in_parts && r->record_id != id && e.logic <= size)
		rc = read_in_place(r, id, &e, dst, &layout, err);
	else
		rc = read_fitting(r, id, &e, dst, size, &layout, err);
	if (bytes && (!rc || rc == -EINVAL))
		*bytes = layout.bytes;
	if (shape && !rc)
		*shape = layout.shape;
	return rc;
}

int zr_read(struct zr_reader *r, uint64_t id, void *dst, size_t size,
	    uint64_t *bytes, struct zr_shape *shape, struct zr_error *err)
{
	int rc;

	ZR_GUARDED(r->c, rc, read_record(r, id, dst, size, bytes, shape, err),
		   zr_fault(r->c, id, err));
	return unless_cut(r, rc, id, err);
}

static int read_part(struct zr_reader *r, uint64_t id, uint64_t offset,
		     void *dst, size_t len, struct zr_error *err)
{
	struct zr_layout layout;
	struct zr_entry e;
	int rc = zr_locate(r->c, id, &e, err);

	if (!rc)
		rc = find_layout(r, id, &e, &layout, err);
	if (rc)
		return rc;
	if (!zr_span_inside(offset, len, layout.bytes))
		return zr_fail_at(
			err, -EINVAL, r->c->path,
			(struct zr_facts){ id, offset, layout.bytes, len },
			"record %llu: the part leaves its %llu bytes",
			(unsigned long long)id,
			(unsigned long long)layout.bytes);
	if (!len)
		return 0;
	return read_span(r, id, &e, &layout, offset, dst, len, err);
}

int zr_read_part(struct zr_reader *r, uint64_t id, uint64_t offset, void *dst,
		 size_t len, struct zr_error *err)
{
	int rc;

	ZR_GUARDED(r->c, rc, read_part(r, id, offset, dst, len, err),
		   zr_fault(r->c, id, err));
	return unless_cut(r, rc, id, err);
}

static int check_record(struct zr_reader *r, uint64_t id,
			const struct zr_entry *e, struct zr_error *err)
{
	struct zr_layout layout;
	int rc;

	ZR_GUARDED(r->c, rc, keep_record(r, id, e, err),
		   zr_fault(r->c, id, err));
	rc = unless_cut(r, rc, id, err);
	if (rc || r->c->meta.kind == ZR_DENSE)
		return rc;
	return zr_layout_decode(&layout, r->c, id, r->record.p, e->logic,
				e->logic, err);
}

int zr_check(struct zr_reader *r, uint64_t id, struct zr_error *err)
{
	struct zr_entry e;
	int rc = zr_locate(r->c, id, &e, err);

	if (rc)
		return rc;
	/* What is kept is not what the file holds now. */
	r->record_id = ZR_NONE;
	r->lane[0].check = r->c->sums.file != NULL;
	rc = check_record(r, id, &e, err);
	r->lane[0].check = r->c->check;
	r->record_id = ZR_NONE;
	return rc;
}
