/* SPDX-License-Identifier: BSD-2-Clause
 * Batches and gathers of a Ragged stream: a stored zip of the records' files.
 */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "files.h"
#include "image.h"
#include "worker.h"
#include "zip.h"

/* Records up to this size are read into scratch; larger ones would make it
 * large for good, so they go through the cache. */
#define SCRATCH_MAX ((uint64_t)1 << 20)
/* The layout of a larger one would be too large to be made on a whim. */
#define MEMBERS_MAX ((uint64_t)1 << 24)
#define CRC_KNOWN ((uint64_t)1 << 32)

/* A layout in the cache. Only the check sums change: each is set once it is
 * needed, to the same value by whoever is first. */
struct npz {
	struct zip zip;
	_Atomic uint64_t *crc;
	uint64_t tables[];
};

struct npz_op {
	struct mount *m;
	struct worker *w;
	struct stream *s;
	const struct node *n;
	const struct ids *ids;
	struct npz *npz;
	struct zr_error *err;
};

/* A record's file, in scratch or held in the cache. */
struct member {
	struct image image;
	struct cache_block *held;
};

static int fill_layout(void *ctx, struct cache_block *block)
{
	struct npz_op *op = ctx;
	uint64_t count = op->ids->count;
	size_t size = sizeof(struct npz) + (2 * (size_t)count + 1) * 8;
	struct npz *z = calloc(1, size);
	uint64_t at = 0, len;
	int rc = z ? 0 : -ENOMEM;

	if (rc)
		return rc;
	z->zip.count = count;
	z->zip.start = z->tables;
	z->crc = (_Atomic uint64_t *)(z->tables + count + 1);
	for (uint64_t i = 0; i < count && !rc; i++) {
		z->zip.start[i] = at;
		rc = image_size(op->w, op->s, ids_at(op->ids, i), &len);
		at += zip_header_len(i) + len;
	}
	if (rc) {
		free(z);
		return rc;
	}
	z->zip.start[count] = at;
	zip_finish(&z->zip);
	block->memory = z;
	block->size = size;
	block->data = (unsigned char *)z;
	block->len = size;
	return 0;
}

static int hold_layout(struct npz_op *op, struct cache_block **block)
{
	int rc = cache_get(op->m->layouts, tree_ino(op->n), 0, true,
			   fill_layout, op, block);

	if (!rc)
		op->npz = (*block)->memory;
	return rc;
}

int npz_size(struct mount *m, struct worker *w, struct stream *s,
	     const struct node *n, const struct ids *ids, uint64_t *size)
{
	struct npz_op op = { .m = m, .w = w, .s = s, .n = n, .ids = ids };
	struct cache_block *layout;
	int rc = ids->count > MEMBERS_MAX ? -EFBIG : hold_layout(&op, &layout);

	if (rc)
		return rc;
	*size = zip_size(&op.npz->zip);
	cache_put(m->layouts, layout);
	return 0;
}

static void set_crc(struct npz *z, uint64_t i, uint64_t crc)
{
	atomic_store_explicit(&z->crc[i], CRC_KNOWN | crc,
			      memory_order_relaxed);
}

static int get_member(struct npz_op *op, uint64_t i, bool again,
		      struct member *out)
{
	struct npz *z = op->npz;
	struct node n = { .kind = NODE_RECORD,
			  .stream = op->s->number,
			  .index = ids_at(op->ids, i) };
	uint64_t room = image_room(op->s, n.index);
	int rc;

	*out = (struct member){ .held = NULL };
	if (again || room > SCRATCH_MAX) {
		rc = image_hold(op->m, op->w, op->s, &n, &out->held, op->err);
		if (!rc)
			out->image = (struct image){ out->held->data,
						     out->held->len };
	} else {
		unsigned char *buf = worker_scratch(op->w, (size_t)room);

		rc = buf ? image_load(op->w, op->s, n.index, buf, &out->image,
				      op->err)
			 : -ENOMEM;
	}
	if (rc)
		return rc;
	if (!atomic_load_explicit(&z->crc[i], memory_order_relaxed))
		set_crc(z, i, crc32_z(0, out->image.data, out->image.len));
	return 0;
}

/* A member that is bad has check sum 0: the others stay readable, and to
 * read this one fails anyway. */
static int get_crc(struct npz_op *op, uint64_t i, uint32_t *crc)
{
	uint64_t v =
		atomic_load_explicit(&op->npz->crc[i], memory_order_relaxed);

	if (!v) {
		struct member member;
		int rc = get_member(op, i, false, &member);

		if (rc == -EBADMSG)
			set_crc(op->npz, i, 0);
		else if (rc)
			return rc;
		cache_done(op->m->images, member.held);
		v = atomic_load_explicit(&op->npz->crc[i],
					 memory_order_relaxed);
	}
	*crc = (uint32_t)v;
	return 0;
}

static int read_data(struct npz_op *op, uint64_t i, const struct span *span,
		     unsigned char *dst)
{
	const struct zip *zip = &op->npz->zip;
	uint64_t at = zip->start[i] + zip_header_len(i);
	uint64_t end = zip->start[i + 1];
	/* The rest of a member that is cut will be asked for soon. */
	bool cut = at < span->off || end > span->off + span->len;
	struct member member;
	int rc;

	if (end <= span->off || at >= span->off + span->len)
		return 0;
	rc = get_member(op, i, cut, &member);
	if (rc)
		return rc;
	if (member.image.len == end - at)
		span_copy(dst, span, at, member.image.data, member.image.len);
	else
		rc = -EBADMSG;
	/* The next member may want its place, in this READ. */
	if (end <= span->off + span->len)
		cache_done(op->m->images, member.held);
	else
		cache_put(op->m->images, member.held);
	return rc;
}

static int read_members(struct npz_op *op, const struct span *span,
			unsigned char *dst)
{
	const struct zip *zip = &op->npz->zip;
	uint64_t end = span->off + span->len;
	unsigned char buf[ZIP_HEADER_MAX];
	uint32_t crc;
	int rc = 0;

	if (span->off >= zip->start[zip->count])
		return 0;
	for (uint64_t i = zip_find_member(zip, span->off);
	     i < zip->count && zip->start[i] < end && !rc; i++) {
		/* Data first: that makes the check sum known. */
		rc = read_data(op, i, span, dst);
		if (rc || zip->start[i] + zip_header_len(i) <= span->off)
			continue;
		rc = get_crc(op, i, &crc);
		if (!rc)
			span_copy(dst, span, zip->start[i], buf,
				  zip_header(zip, i, crc, buf));
	}
	return rc;
}

static int read_directory(struct npz_op *op, const struct span *span,
			  unsigned char *dst)
{
	const struct zip *zip = &op->npz->zip;
	uint64_t end = span->off + span->len;
	unsigned char buf[ZIP_HEADER_MAX];
	uint64_t i = zip_find_entry(zip, span->off);
	uint32_t crc;
	int rc;

	for (; i < zip->count && zip_entry_at(zip, i) < end; i++) {
		rc = get_crc(op, i, &crc);
		if (rc)
			return rc;
		span_copy(dst, span, zip_entry_at(zip, i), buf,
			  zip_entry(zip, i, crc, buf));
	}
	span_copy(dst, span, zip_entry_at(zip, zip->count), buf,
		  zip_end(zip, buf));
	return 0;
}

int npz_read(struct mount *m, struct worker *w, struct stream *s,
	     const struct node *n, const struct ids *ids,
	     const struct span *span, unsigned char *dst, struct zr_error *err)
{
	struct npz_op op = { m, w, s, n, ids, NULL, err };
	struct cache_block *layout;
	int rc = hold_layout(&op, &layout);

	if (rc)
		return rc;
	rc = read_members(&op, span, dst);
	if (!rc)
		rc = read_directory(&op, span, dst);
	cache_put(m->layouts, layout);
	return rc;
}
