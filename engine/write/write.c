/* SPDX-License-Identifier: BSD-2-Clause
 * Records to data.zr and their entries to the table, in windows: one thread
 * writes, in order, while the others make the stored bytes of the next window
 * and hashes, so the bytes of a container do not depend on the threads. */
#include "write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/io.h"
#include "base/le.h"
#include "read/fetch.h"

/* Records of a window: so many bytes, and if they are encoded at least one for
 * each thread, as long as they are not too large. */
#define WINDOW_BYTES ((size_t)8 << 20)
#define WINDOW_MOST ((size_t)256 << 20)
/* Of raw Ragged records, to stay in the cache. */
#define WINDOW_JOINED ((size_t)1 << 20)
#define WINDOW_RECORDS ((size_t)8192)
#define TASK_BYTES ((size_t)64 << 10)
#define IOVECS 1024
/* From here on a raw Ragged record is not worth copying behind its prefix. */
#define SPLIT_BYTES ((size_t)32 << 10)

/* One record of it: prefix[0, prefix_len) and then payload[0, len). */
struct piece {
	unsigned char prefix[ZR_PREFIX_MAX];
	size_t prefix_len;
	const unsigned char *payload;
	size_t len;
};

static void piece_at(const struct zr_append *a, size_t i, struct piece *out)
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
	int rc = zr_pwrite(w->build.meta_fd, w->entries, count * ZR_ENTRY_BYTES,
			   at);

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

static int add_entry(struct zr_writer *w, const struct zr_append *a, size_t i,
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

/* A record of a window and its stored bytes: where the caller has them, or in
 * the buffer of the window. */
struct slot {
	const unsigned char *stored;
	size_t len;
	size_t head;   /* bytes before them that are in the buffer: a prefix */
	size_t place;  /* in the buffer */
	uint64_t hash; /* of the stored bytes, if there is a check.zr */
	uint32_t logic;
};

struct window {
	struct zr_writer *w;
	const struct zr_append *a;
	struct zr_window *mem;
	size_t first, count; /* records of the append */
	size_t task;         /* records of a task */
	size_t tasks;
	size_t bytes; /* of the records */
	uint64_t at;  /* place in data.zr, when it is written */
	struct slot *slot;
	int rc; /* -ENOMEM from any task */
};

/* What happens at the same time; each may be NULL. A window that is written is
 * entered after that. */
struct step {
	struct window *write, *enter, *prepare;
	int write_rc, enter_rc;
	struct zr_error *enter_err;
};

static bool in_place(const struct window *win)
{
	return win->w->meta.codec == ZR_RAW && win->a->items;
}

static bool is_split(const struct zr_writer *w, size_t len)
{
	return w->meta.codec == ZR_RAW && len >= SPLIT_BYTES;
}

static void join(unsigned char *dst, const struct piece *p)
{
	memcpy(dst, p->prefix, p->prefix_len);
	memcpy(dst + p->prefix_len, p->payload, p->len);
}

static int encode(struct window *win, unsigned lane, struct slot *s,
		  const struct piece *piece)
{
	struct zr_writer *w = win->w;
	struct zr_buffer *source = &w->source[lane];
	const unsigned char *p = piece->payload;

	if (piece->prefix_len) {
		if (zr_buffer_room(source, s->logic))
			return -ENOMEM;
		join(source->p, piece);
		p = source->p;
	}
	if (!w->encoder[lane] &&
	    zr_encoder_new(&w->encoder[lane], w->dict, w->level))
		return -ENOMEM;
	return zr_encode(w->encoder[lane], win->mem->out.p + s->place,
			 zr_encode_bound(s->logic), p, s->logic, &s->len);
}

/* A long record is written from where it is, behind its prefix. */
static int split(struct window *win, struct slot *s, const struct piece *piece)
{
	struct zr_hasher *h;

	s->stored = piece->payload;
	s->len = piece->len;
	s->head = piece->prefix_len;
	memcpy(win->mem->out.p + s->place, piece->prefix, s->head);
	if (win->w->sums.fd < 0)
		return 0;
	h = zr_hasher_new();
	if (!h)
		return -ENOMEM;
	zr_hasher_add(h, piece->prefix, s->head);
	zr_hasher_add(h, piece->payload, s->len);
	s->hash = zr_hasher_end(h);
	zr_hasher_free(h);
	return 0;
}

static int prepare_one(struct window *win, unsigned lane, size_t i)
{
	struct slot *s = &win->slot[i];
	struct piece piece;
	int rc = 0;

	if (!in_place(win)) {
		piece_at(win->a, win->first + i, &piece);
		if (is_split(win->w, piece.len))
			return split(win, s, &piece);
		s->stored = win->mem->out.p + s->place;
		if (win->w->meta.codec == ZR_RAW)
			join(win->mem->out.p + s->place, &piece);
		else
			rc = encode(win, lane, s, &piece);
	}
	if (!rc && win->w->sums.fd >= 0)
		s->hash = zr_hash(s->stored, s->len);
	return rc;
}

static void prepare_task(struct window *win, unsigned lane, size_t task)
{
	size_t i = task * win->task, end = win->count;

	if (end - i > win->task)
		end = i + win->task;
	for (; i < end; i++)
		if (prepare_one(win, lane, i))
			__atomic_store_n(&win->rc, -ENOMEM, __ATOMIC_RELAXED);
}

/* Longer by `len` bytes at p: in the last one, if they lie behind it. */
static size_t add_iovec(struct iovec *iov, size_t n, const unsigned char *p,
			size_t len)
{
	const unsigned char *end = NULL;

	if (n)
		end = (unsigned char *)iov[n - 1].iov_base + iov[n - 1].iov_len;
	if (end == p) {
		iov[n - 1].iov_len += len;
		return n;
	}
	memcpy(&iov[n].iov_base, &p, sizeof(void *));
	iov[n].iov_len = len;
	return n + 1;
}

/* Records from *i on to *at on, up to where the iovecs end; advances both. */
static int write_records(struct window *win, size_t *i, uint64_t *at)
{
	struct iovec iov[IOVECS];
	uint64_t from = *at;
	size_t n = 0;

	for (; *i < win->count && n + 2 <= IOVECS; (*i)++) {
		const struct slot *s = &win->slot[*i];

		if (s->head)
			n = add_iovec(iov, n, win->mem->out.p + s->place,
				      s->head);
		n = add_iovec(iov, n, s->stored, s->len);
		*at += s->head + s->len;
	}
	return zr_pwritev(win->w->build.data_fd, iov, n, from);
}

static int write_window(struct window *win)
{
	uint64_t at = win->at;
	int rc = 0;

	for (size_t i = 0; i < win->count && !rc;)
		rc = write_records(win, &i, &at);
	return rc;
}

static int add_entries(struct window *win, struct zr_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < win->count && !rc; i++) {
		const struct slot *s = &win->slot[i];

		rc = add_entry(win->w, win->a, win->first + i,
			       (uint32_t)(s->head + s->len), s->logic, s->hash,
			       err);
	}
	return rc;
}

static void step_task(void *ctx, unsigned lane, size_t task)
{
	struct step *s = ctx;

	if (task >= 2)
		prepare_task(s->prepare, lane, task - 2);
	else if (task == 0 && s->write)
		s->write_rc = write_window(s->write);
	else if (task == 1 && s->enter && s->enter != s->write)
		s->enter_rc = add_entries(s->enter, s->enter_err);
	/* Entries come after the bytes they speak of: a build that dies has
	 * none that recovery must refuse. */
	if (task == 0 && s->write && s->enter == s->write && !s->write_rc)
		s->enter_rc = add_entries(s->enter, s->enter_err);
}

static bool full(const struct window *win)
{
	const struct zr_writer *w = win->w;

	if (win->count == WINDOW_RECORDS)
		return true;
	if (w->meta.codec == ZR_RAW)
		return win->bytes >=
		       (win->a->items ? WINDOW_BYTES : WINDOW_JOINED);
	return win->bytes >= WINDOW_MOST ||
	       (win->bytes >= WINDOW_BYTES && win->count >= w->lanes);
}

/* In the buffer. */
static size_t room_of(const struct zr_writer *w, const struct piece *p)
{
	if (is_split(w, p->len))
		return p->prefix_len;
	if (w->meta.codec == ZR_RAW)
		return p->prefix_len + p->len;
	return zr_encode_bound(p->prefix_len + p->len);
}

/* Choose the records of a window and make room for their stored bytes. */
static int plan(struct window *win)
{
	size_t place = 0, left = win->a->count - win->first;
	struct piece piece;

	if (zr_buffer_room(&win->mem->slots,
			   WINDOW_RECORDS * sizeof(struct slot)))
		return -ENOMEM;
	win->slot = (struct slot *)(void *)win->mem->slots.p;
	win->bytes = 0;
	for (win->count = 0; win->count < left && !full(win);) {
		struct slot *s = &win->slot[win->count];

		piece_at(win->a, win->first + win->count, &piece);
		s->stored = piece.payload;
		s->logic = (uint32_t)(piece.prefix_len + piece.len);
		s->len = s->logic;
		s->head = 0;
		s->hash = 0;
		s->place = place;
		place += room_of(win->w, &piece);
		win->bytes += s->logic;
		win->count++;
	}
	win->task = TASK_BYTES / (win->bytes / win->count + 1) + 1;
	win->tasks = (win->count - 1) / win->task + 1;
	if (!in_place(win))
		return zr_buffer_room(&win->mem->out, place);
	if (win->w->sums.fd < 0)
		win->tasks = 0;
	return 0;
}

/* Prepare `next` and end `before`, which the last step prepared. A window that
 * is in place is written while it is hashed. */
static int do_step(struct zr_writer *w, struct window *next,
		   struct window *before, struct zr_error *err)
{
	struct step step = { before, before, next, 0, 0, err };

	if (before && !in_place(before))
		before->at = w->meta.tail_offset;
	if (in_place(next ? next : before)) {
		step.write = next;
		if (next)
			next->at = before ? before->at + before->bytes
					  : w->meta.tail_offset;
	}
	zr_executor_run(w->ex, 2 + (next ? next->tasks : 0), step_task, &step);
	if (step.write_rc)
		return zr_fail_sys(err, -step.write_rc, w->build.path,
				   "writing data.zr");
	if (step.enter_rc)
		return step.enter_rc;
	if (next && next->rc)
		return zr_fail(err, next->rc, w->build.path,
			       "no memory to encode");
	return 0;
}

int zr_write(struct zr_writer *w, const struct zr_append *a,
	     struct zr_error *err)
{
	struct window win[2] = {
		{ .w = w, .a = a, .mem = &w->window[0] },
		{ .w = w, .a = a, .mem = &w->window[1] },
	};
	struct window *before = NULL;
	size_t first = 0;
	int rc = 0;

	for (size_t k = 0; first < a->count && !rc; k++) {
		struct window *next = &win[k % 2];

		next->first = first;
		if (plan(next))
			return zr_fail(err, -ENOMEM, w->build.path,
				       "no memory for records to encode");
		first += next->count;
		rc = do_step(w, next, before, err);
		before = next;
	}
	return rc || !before ? rc : do_step(w, NULL, before, err);
}
