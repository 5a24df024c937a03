/* SPDX-License-Identifier: BSD-2-Clause
 * READ: which bytes of which file, and from where. */
#include "read.h"

#include <errno.h>
#include <string.h>

#include "attr.h"
#include "files/composed.h"
#include "files/files.h"
#include "files/image.h"
#include "files/worker.h"
#include "loop.h"
#include "open.h"
#include "park.h"
#include "push.h"
#include "tree/streams.h"

/* A READ of a whole record may decode this much more than it answers, since
 * the shape, and so the exact length, is known only afterwards. */
#define SLACK 1024
/* To decode so much takes several times as long as to wake a thread. */
#define LONG_DECODE ((uint64_t)64 << 10)

struct read_op {
	struct mount *m;
	struct worker *w;
	struct stream *s;
	struct node node;
	uint64_t off;
	size_t size;
	struct zr_error err;
	/* The answer. */
	const void *data;
	size_t len;
	struct cache_block *held;
};

/* Answer with what the READ covers of a whole file in memory. */
static int from_memory(struct read_op *op, const void *file, size_t len)
{
	if (op->off >= len)
		return 0;
	op->data = (const unsigned char *)file + op->off;
	op->len = len - (size_t)op->off;
	if (op->len > op->size)
		op->len = op->size;
	return 0;
}

static int whole_record(struct read_op *op, uint64_t room)
{
	unsigned char *buf = worker_reply(op->w, (size_t)room);
	struct image image;
	int rc;

	if (!buf)
		return -ENOMEM;
	rc = image_load(op->w, op->s, op->node.index, buf, &image, &op->err);
	return rc ? rc : from_memory(op, image.data, image.len);
}

static int record_header(struct read_op *op, unsigned char *buf, size_t *len,
			 uint64_t *bytes)
{
	struct zr_shape shape;
	int rc;

	rc = zr_record_shape(op->w->reader, op->node.index, &shape, bytes,
			     &op->err);
	if (rc)
		return rc;
	return zr_npy_header(buf, ZR_NPY_HEADER_MAX, len, &op->s->info->dtype,
			     &shape);
}

/* Only the bytes that are asked for are read. */
static int part_of_raw(struct read_op *op)
{
	unsigned char header[ZR_NPY_HEADER_MAX];
	unsigned char *buf = worker_reply(op->w, op->size);
	struct span span = { op->off, op->size };
	uint64_t bytes, from = 0;
	size_t head, skip = 0;
	int rc;

	if (!buf)
		return -ENOMEM;
	rc = record_header(op, header, &head, &bytes);
	if (rc || op->off >= head + bytes)
		return rc;
	if (span.len > head + bytes - span.off)
		span.len = (size_t)(head + bytes - span.off);
	span_copy(buf, &span, 0, header, head);
	if (span.off < head)
		skip = head - (size_t)span.off;
	else
		from = span.off - head;
	if (skip < span.len)
		rc = zr_read_part(op->w->reader, op->node.index, from,
				  buf + skip, span.len - skip, &op->err);
	op->data = buf;
	op->len = span.len;
	return rc;
}

static int read_record(struct read_op *op)
{
	uint64_t room = image_room(op->s, op->node.index);
	int rc;

	if (op->off == 0 &&
	    room - ZR_NPY_HEADER_MAX <= (uint64_t)op->size + SLACK)
		return whole_record(op, room);
	if (stream_in_parts(op->s, op->node.index))
		return part_of_raw(op);
	rc = image_hold(op->m, op->w, op->s, &op->node, &op->held, &op->err);
	return rc ? rc : from_memory(op, op->held->data, op->held->len);
}

/* The numbers in it change, so the kernel must ask each time. */
static int read_stats(struct read_op *op)
{
	char *buf = (char *)worker_reply(op->w, STATS_BYTES);
	struct stats_pushed pushed = { push_records(op->m->push),
				       push_bytes(op->m->push) };

	if (!buf)
		return -ENOMEM;
	stats_write(op->m, &pushed, buf);
	return from_memory(op, buf, STATS_BYTES);
}

static int dispatch(struct read_op *op)
{
	struct stat st;
	int rc;

	switch (op->node.kind) {
	case NODE_INFO:
		return from_memory(op, op->s->json, op->s->json_len);
	case NODE_STATS:
		return read_stats(op);
	case NODE_RECORD:
		return read_record(op);
	case NODE_ALL:
	case NODE_BATCH:
	case NODE_GATHER:
		rc = attr_get(op->m, &op->node, &st);
		return rc ? rc
			  : composed_read(op->m, op->w, op->s, &op->node,
					  (uint64_t)st.st_size, op->off,
					  op->size, &op->data, &op->len,
					  &op->err);
	case NODE_TEXT:
		rc = text_hold(op->m, op->w, op->s, &op->node, &op->held,
			       &op->err);
		return rc ? rc : from_memory(op, op->held->data, op->held->len);
	case NODE_STREAM:
	case NODE_RECORDS:
	case NODE_BATCHES:
	case NODE_SIZE:
	case NODE_TEXTS:
	case NODE_GATHERS:
		break;
	}
	return -EISDIR;
}

/* As far as that can be told beforehand. */
static bool may_last(const struct read_op *op)
{
	enum node_kind kind = op->node.kind;

	if (kind == NODE_TEXT)
		return true;
	if (op->s->info->codec == ZR_RAW)
		return false;
	return kind == NODE_RECORD ? zr_record_bound(op->s->container,
						     op->node.index) >
					     LONG_DECODE
				   : kind == NODE_ALL || kind == NODE_BATCH ||
					     kind == NODE_GATHER;
}

static bool read_again(struct mount *m, struct parked *r)
{
	struct read_op op = {
		.m = m, .node = r->node, .off = r->off, .size = r->size
	};
	int rc = -ENOMEM;

	op.w = mount_worker(m);
	op.s = mount_stream(m, &op.node);
	if (op.w && !(op.s->container && worker_use(op.w, op.s))) {
		if (may_last(&op))
			loop_may_last(m->loop);
		op.w->wait = false;
		rc = dispatch(&op);
		op.w->wait = true;
	}
	if (rc == -EAGAIN)
		return false;
	if (rc) {
		complain(m, &op.err);
		fuse_reply_err(r->req, errno_of(rc));
	} else {
		fuse_reply_buf(r->req, op.data, op.len);
	}
	if (op.held && op.off + op.len >= op.held->len)
		cache_done(m->images, op.held);
	else
		cache_put(m->images, op.held);
	return true;
}

void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
	     struct fuse_file_info *fi)
{
	struct mount *m = fuse_req_userdata(req);
	struct parked r = { .req = req,
			    .again = read_again,
			    .off = (uint64_t)off,
			    .size = size };
	int rc = attr_node(m, ino, &r.node);

	count_request(m, REQUEST_READ);
	if (rc) {
		fuse_reply_err(req, errno_of(rc));
		return;
	}
	/* Who reads a file past the page cache would not find it there. */
	if (fi->fh != OPEN_DIRECT)
		push_seen(m->push, mount_stream(m, &r.node), &r.node, r.off,
			  size);
	if (!read_again(m, &r))
		park_add(m->park, &r);
	if (r.node.kind == NODE_STATS)
		push_forget(m->push, ino);
}
