/* SPDX-License-Identifier: BSD-2-Clause
 * Records to data.zr and their entries to the table: raw ones as they are,
 * others through windows that all threads encode and one thread writes, so
 * that the bytes of a container do not depend on the threads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "io.h"
#include "le.h"
#include "writer.h"

/* Records of a window: so many bytes, or one for each thread. */
#define WINDOW_BYTES ((size_t)8 << 20)
#define WINDOW_RECORDS ((size_t)8192)
#define TASK_BYTES ((size_t)64 << 10)
#define IOVECS 1024

void zr_piece_at(const struct zr_append *a, size_t i, struct zr_piece *out)
{
	const struct zr_ragged *b = a->batch;
	uint64_t first, rank;

	out->prefix_len = 0;
	if (a->items) {
		out->payload = a->items + i * (size_t)a->width;
		out->len = (size_t)a->width;
		return;
	}
	first = b->dim_offsets[i];
	rank = b->dim_offsets[i + 1] - first;
	out->prefix[0] = (unsigned char)rank;
	for (size_t d = 0; d < rank; d++)
		zr_put_le64(out->prefix + 1 + 8 * d, b->dims[first + d]);
	out->prefix_len = 1 + 8 * (size_t)rank;
	out->payload = b->values + b->offsets[i];
	out->len = (size_t)(b->offsets[i + 1] - b->offsets[i]);
}

static int meta_failed(struct zr_writer *w, int rc, struct zr_error *err)
{
	return zr_fail_sys(err, -rc, w->build.path,
			   "writing meta.zr and check.zr");
}

int zr_flush_entries(struct zr_writer *w, struct zr_error *err)
{
	size_t count = (size_t)(w->meta.length - w->flushed);
	uint64_t at = ZR_META_TABLE + w->flushed * ZR_ENTRY_BYTES;
	int rc = zr_pwrite(w->build.meta_fd, w->entries,
			   count * ZR_ENTRY_BYTES, at);

	if (!rc && w->sums.fd >= 0)
		rc = zr_sums_write_rows(&w->sums, w->rows, w->flushed, count);
	if (rc)
		return meta_failed(w, rc, err);
	w->flushed = w->meta.length;
	return 0;
}

/* The row of check.zr for the entry at `entry`. */
static int add_row(struct zr_writer *w, const struct zr_append *a, size_t i,
		   const unsigned char *entry, uint64_t stored_hash)
{
	size_t at = (size_t)(w->meta.length - w->flushed) * w->sums.row;
	uint64_t first;
	int rc;

	zr_put_le64(w->rows + at, zr_record_hash(entry, stored_hash));
	if (w->meta.kind == ZR_DENSE)
		return 0;
	first = a->batch->dim_offsets[i];
	rc = zr_sums_add_dims(&w->sums, a->batch->dims + first,
			      (size_t)(a->batch->dim_offsets[i + 1] - first));
	zr_put_le64(w->rows + at + 8, w->sums.dims);
	return rc;
}

int zr_add_entry(struct zr_writer *w, const struct zr_append *a, size_t i,
		 uint32_t stored, uint32_t logic, uint64_t stored_hash,
		 struct zr_error *err)
{
	unsigned char *p;
	int rc = 0;

	if (w->meta.length - w->flushed == ZR_ENTRIES)
		rc = zr_flush_entries(w, err);
	if (rc)
		return rc;
	p = w->entries + (w->meta.length - w->flushed) * ZR_ENTRY_BYTES;
	zr_put_le64(p, w->meta.tail_offset);
	zr_put_le32(p + 8, stored);
	zr_put_le32(p + 12, logic);
	if (w->sums.fd >= 0)
		rc = add_row(w, a, i, p, stored_hash);
	if (rc)
		return meta_failed(w, rc, err);
	w->meta.length++;
	w->meta.tail_offset += stored;
	return 0;
}

/* Only if there is a check.zr to put it in. */
static uint64_t hash_of(const struct zr_writer *w, const void *p, size_t len)
{
	return w->sums.fd < 0 ? 0 : zr_hash(p, len);
}

static uint64_t hash_of_piece(struct zr_writer *w, const struct zr_piece *p)
{
	if (w->sums.fd < 0)
		return 0;
	zr_hasher_add(w->sums.hasher, p->prefix, p->prefix_len);
	zr_hasher_add(w->sums.hasher, p->payload, p->len);
	return zr_hasher_end(w->sums.hasher);
}

static int write_failed(struct zr_writer *w, int rc, struct zr_error *err)
{
	return zr_fail_sys(err, -rc, w->build.path, "writing data.zr");
}

static int write_raw_dense(struct zr_writer *w, const struct zr_append *a,
			   struct zr_error *err)
{
	uint32_t width = (uint32_t)a->width;
	int rc = zr_pwrite(w->build.data_fd, a->items, a->count * width,
			   w->meta.tail_offset);

	if (rc)
		return write_failed(w, rc, err);
	for (size_t i = 0; i < a->count && !rc; i++)
		rc = zr_add_entry(w, a, i, width, width,
				  hash_of(w, a->items + i * width, width),
				  err);
	return rc;
}

/* Up to IOVECS / 2 records in one call. */
static int write_raw_some(struct zr_writer *w, const struct zr_append *a,
			  size_t first, size_t count, struct zr_piece *piece,
			  struct zr_error *err)
{
	struct iovec iov[IOVECS];
	int rc;

	for (size_t i = 0; i < count; i++) {
		struct zr_piece *p = &piece[i];

		zr_piece_at(a, first + i, p);
		iov[2 * i].iov_base = p->prefix;
		iov[2 * i].iov_len = p->prefix_len;
		memcpy(&iov[2 * i + 1].iov_base, &p->payload, sizeof(void *));
		iov[2 * i + 1].iov_len = p->len;
	}
	rc = zr_pwritev(w->build.data_fd, iov, 2 * count, w->meta.tail_offset);
	if (rc)
		return write_failed(w, rc, err);
	for (size_t i = 0; i < count && !rc; i++) {
		uint32_t len = (uint32_t)(piece[i].prefix_len + piece[i].len);

		rc = zr_add_entry(w, a, first + i, len, len,
				  hash_of_piece(w, &piece[i]), err);
	}
	return rc;
}

int zr_write_raw(struct zr_writer *w, const struct zr_append *a,
		 struct zr_error *err)
{
	struct zr_piece *piece;
	int rc = 0;

	if (a->items)
		return write_raw_dense(w, a, err);
	piece = malloc(IOVECS / 2 * sizeof(*piece));
	if (!piece)
		return zr_fail(err, -ENOMEM, w->build.path, "no memory");
	for (size_t i = 0; i < a->count && !rc; i += IOVECS / 2) {
		size_t n = a->count - i < IOVECS / 2 ? a->count - i
						     : IOVECS / 2;

		rc = write_raw_some(w, a, i, n, piece, err);
	}
	free(piece);
	return rc;
}

/* A record of a window: its frame is at out.p + place. */
struct slot {
	size_t place, stored;
	uint64_t hash; /* of the frame */
	uint32_t logic;
};

struct window {
	struct zr_writer *w;
	const struct zr_append *a;
	size_t first, count; /* records of the append */
	size_t task;         /* records of a task */
	struct slot *slot;
	int rc;              /* -ENOMEM from any task */
};

static int encode_one(struct window *win, unsigned lane, size_t i)
{
	struct zr_writer *w = win->w;
	struct slot *s = &win->slot[i];
	struct zr_buffer *source = &w->source[lane];
	const unsigned char *p;
	struct zr_piece piece;

	zr_piece_at(win->a, win->first + i, &piece);
	p = piece.payload;
	if (piece.prefix_len) {
		if (zr_buffer_room(source, s->logic))
			return -ENOMEM;
		memcpy(source->p, piece.prefix, piece.prefix_len);
		memcpy(source->p + piece.prefix_len, piece.payload, piece.len);
		p = source->p;
	}
	if (!w->encoder[lane] &&
	    zr_encoder_new(&w->encoder[lane], w->dict, w->level))
		return -ENOMEM;
	if (zr_encode(w->encoder[lane], w->out.p + s->place,
		      zr_encode_bound(s->logic), p, s->logic, &s->stored))
		return -ENOMEM;
	s->hash = hash_of(w, w->out.p + s->place, s->stored);
	return 0;
}

static void encode_task(void *ctx, unsigned lane, size_t task)
{
	struct window *win = ctx;
	size_t i = task * win->task, end = win->count;

	if (end - i > win->task)
		end = i + win->task;
	for (; i < end; i++)
		if (encode_one(win, lane, i))
			__atomic_store_n(&win->rc, -ENOMEM, __ATOMIC_RELAXED);
}

/* Choose the records of the next window and make room for their frames. */
static int plan_window(struct window *win)
{
	size_t bytes = 0, place = 0, left = win->a->count - win->first;
	struct zr_writer *w = win->w;
	struct zr_piece piece;

	if (zr_buffer_room(&w->slots, WINDOW_RECORDS * sizeof(struct slot)))
		return -ENOMEM;
	win->slot = (struct slot *)(void *)w->slots.p;
	win->count = 0;
	while (win->count < left && win->count < WINDOW_RECORDS &&
	       (bytes < WINDOW_BYTES || win->count < w->lanes)) {
		struct slot *s = &win->slot[win->count];

		zr_piece_at(win->a, win->first + win->count, &piece);
		s->logic = (uint32_t)(piece.prefix_len + piece.len);
		s->place = place;
		place += zr_encode_bound(s->logic);
		bytes += s->logic;
		win->count++;
	}
	win->task = TASK_BYTES / (bytes / win->count + 1) + 1;
	return zr_buffer_room(&w->out, place);
}

static int write_window(struct window *win, struct zr_error *err)
{
	struct zr_writer *w = win->w;
	struct iovec iov[IOVECS];

	for (size_t i = 0; i < win->count;) {
		size_t n = 0;
		int rc;

		for (; n < IOVECS && i + n < win->count; n++) {
			iov[n].iov_base = w->out.p + win->slot[i + n].place;
			iov[n].iov_len = win->slot[i + n].stored;
		}
		rc = zr_pwritev(w->build.data_fd, iov, n, w->meta.tail_offset);
		if (rc)
			return write_failed(w, rc, err);
		for (size_t end = i + n; i < end; i++) {
			const struct slot *slot = &win->slot[i];

			rc = zr_add_entry(w, win->a, win->first + i,
					  (uint32_t)slot->stored, slot->logic,
					  slot->hash, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

int zr_write_encoded(struct zr_writer *w, const struct zr_append *a,
		     struct zr_error *err)
{
	struct window win = { .w = w, .a = a };
	int rc = 0;

	while (win.first < a->count && !rc) {
		if (plan_window(&win))
			return zr_fail(err, -ENOMEM, w->build.path,
				       "no memory for a window of records");
		zr_executor_run(w->ex, (win.count - 1) / win.task + 1,
				encode_task, &win);
		if (win.rc)
			return zr_fail(err, win.rc, w->build.path,
				       "no memory to encode");
		rc = write_window(&win, err);
		win.first += win.count;
	}
	return rc;
}
