/* SPDX-License-Identifier: BSD-2-Clause
 * Many records of a Dense stream as one array: batches, gathers, all.npy. */
#include <string.h>

#include "files.h"
#include "image.h"
#include "worker.h"

struct rows {
	struct mount *m;
	struct worker *w;
	struct stream *s;
	const struct ids *ids;
	uint64_t bytes; /* of a row */
	struct zr_error *err;
};

void span_copy(unsigned char *dst, const struct span *span, uint64_t at,
	       const void *piece, uint64_t len)
{
	uint64_t skip = at < span->off ? span->off - at : 0;
	uint64_t to = at < span->off ? 0 : at - span->off;

	if (skip >= len || to >= span->len)
		return;
	len -= skip;
	if (len > span->len - to)
		len = span->len - to;
	memcpy(dst + to, (const unsigned char *)piece + skip, (size_t)len);
}

/* A row that the span covers in part: READs of one file follow each other,
 * so the rest of a decoded one is wanted soon. */
static int part_of_row(struct rows *r, uint64_t row, uint64_t offset,
		       size_t len, unsigned char *dst)
{
	uint64_t id = ids_at(r->ids, row);
	struct node n = { .kind = NODE_RECORD,
			  .stream = r->s->number,
			  .index = id };
	struct cache_block *b;
	int rc;

	if (stream_in_parts(r->s, id))
		return zr_read_part(r->w->reader, id, offset, dst, len, r->err);
	rc = image_hold(r->m, r->w, r->s, &n, &b, r->err);
	if (rc)
		return rc;
	memcpy(dst, b->data + r->s->header_len + offset, len);
	/* The next row may want its place, in this READ. */
	if (offset + len == r->bytes)
		cache_done(r->m->images, b);
	else
		cache_put(r->m->images, b);
	return 0;
}

static int whole_rows(struct rows *r, uint64_t row, uint64_t count,
		      unsigned char *dst)
{
	while (count) {
		size_t n = count < WORKER_IDS ? (size_t)count : WORKER_IDS;
		int rc;

		ids_get(r->ids, row, n, r->w->ids);
		rc = zr_gather_dense(r->w->reader, r->w->ids, n, dst,
				     n * (size_t)r->bytes, r->err);
		if (rc)
			return rc;
		dst += n * (size_t)r->bytes;
		row += n;
		count -= n;
	}
	return 0;
}

/* Bytes [off, off + len) of the elements of all rows. */
static int elements(struct rows *r, uint64_t off, size_t len,
		    unsigned char *dst)
{
	uint64_t row = off / r->bytes, inside = off % r->bytes;
	uint64_t whole;
	int rc = 0;

	if (inside) {
		uint64_t n = r->bytes - inside;

		if (n > len)
			n = len;
		rc = part_of_row(r, row++, inside, (size_t)n, dst);
		dst += n;
		len -= (size_t)n;
	}
	whole = len / r->bytes;
	if (!rc && whole)
		rc = whole_rows(r, row, whole, dst);
	dst += whole * r->bytes;
	len -= (size_t)(whole * r->bytes);
	if (!rc && len)
		rc = part_of_row(r, row + whole, 0, len, dst);
	return rc;
}

int rows_read(struct mount *m, struct worker *w, struct stream *s,
	      const struct ids *ids, const struct span *span,
	      unsigned char *dst, struct zr_error *err)
{
	struct rows r = { m, w, s, ids, s->info->record_bytes, err };
	unsigned char header[ZR_NPY_HEADER_MAX];
	size_t head = stream_rows_header(s, ids->count, header), skip = 0;
	uint64_t off = 0;

	span_copy(dst, span, 0, header, head);
	if (span->off < head)
		skip = head - (size_t)span->off;
	else
		off = span->off - head;
	if (skip >= span->len)
		return 0;
	return elements(&r, off, span->len - skip, dst + skip);
}
