/* SPDX-License-Identifier: BSD-2-Clause
 * Windows of records: which they are, their stored bytes and hashes. */
#include "window.h"

#include <errno.h>
#include <string.h>

#include "base/le.h"

/* Records of a window: so many bytes, and if they are encoded at least one for
 * each thread, as long as they are not too large. */
#define WINDOW_BYTES ((size_t)8 << 20)
#define WINDOW_MOST ((size_t)256 << 20)
#define WINDOW_RECORDS ((size_t)8192)
/* Of records that are copied behind their prefix, to stay in the cache; less at
 * both ends of an append, where only one of writing and preparing goes on. */
#define WINDOW_JOINED ((uint64_t)1 << 20)
#define WINDOW_LEAST ((uint64_t)128 << 10)
#define TASK_BYTES ((size_t)64 << 10)
/* From here on a raw Ragged record is not worth copying behind its prefix. */
#define SPLIT_BYTES ((size_t)32 << 10)

/* Record i of the append, as the caller has it. */
static void describe(const struct zr_append *a, size_t i, struct zr_slot *s)
{
	const struct zr_ragged *b = a->batch;

	*s = (struct zr_slot){ 0 };
	if (a->items) {
		s->stored = a->items + i * (size_t)a->width;
		s->len = (size_t)a->width;
	} else {
		s->stored = b->values + b->offsets[i];
		s->len = (size_t)(b->offsets[i + 1] - b->offsets[i]);
		s->head = 1 + 8 * (size_t)(b->dim_offsets[i + 1] -
					   b->dim_offsets[i]);
	}
	s->logic = (uint32_t)(s->head + s->len);
}

static void put_prefix(const struct zr_append *a, size_t i, unsigned char *to)
{
	const struct zr_ragged *b = a->batch;
	const uint64_t *dims = b->dims + b->dim_offsets[i];
	size_t rank = (size_t)(b->dim_offsets[i + 1] - b->dim_offsets[i]);

	to[0] = (unsigned char)rank;
	for (size_t d = 0; d < rank; d++)
		zr_put_le64(to + 1 + 8 * d, dims[d]);
}

/* Whether the elements are written from where the caller has them. */
static bool stays(const struct zr_window *win, const struct zr_slot *s)
{
	return win->w->meta.codec == ZR_RAW &&
	       (!s->head || s->len >= SPLIT_BYTES);
}

/* Prefix and elements, one behind the other. */
static void join(const struct zr_window *win, size_t i, unsigned char *to)
{
	const struct zr_slot *s = &win->slot[i];

	if (s->head)
		put_prefix(win->a, win->first + i, to);
	memcpy(to + s->head, s->stored, s->len);
}

static int encode(struct zr_window *win, unsigned lane, size_t i)
{
	struct zr_writer *w = win->w;
	struct zr_buffer *source = &w->source[lane];
	struct zr_slot *s = &win->slot[i];
	const unsigned char *p = s->stored;

	if (s->head) {
		if (zr_buffer_room(source, s->logic))
			return -ENOMEM;
		join(win, i, source->p);
		p = source->p;
	}
	if (!w->encoder[lane] &&
	    zr_encoder_new(&w->encoder[lane], w->dict, w->level))
		return -ENOMEM;
	return zr_encode(w->encoder[lane], win->mem->out.p + s->place,
			 zr_encode_bound(s->logic), p, s->logic, &s->len);
}

static int hash(const struct zr_window *win, struct zr_slot *s)
{
	struct zr_hasher *h;

	if (!s->head) {
		s->hash = zr_hash(s->stored, s->len);
		return 0;
	}
	h = zr_hasher_new();
	if (!h)
		return -ENOMEM;
	zr_hasher_add(h, win->mem->out.p + s->place, s->head);
	zr_hasher_add(h, s->stored, s->len);
	s->hash = zr_hasher_end(h);
	zr_hasher_free(h);
	return 0;
}

static int prepare_one(struct zr_window *win, unsigned lane, size_t i)
{
	struct zr_slot *s = &win->slot[i];
	int rc = 0;

	if (!stays(win, s)) {
		if (win->w->meta.codec != ZR_RAW) {
			rc = encode(win, lane, i);
		} else {
			join(win, i, win->mem->out.p + s->place);
			s->len = s->logic;
		}
		s->stored = win->mem->out.p + s->place;
		s->head = 0;
	}
	return rc || win->w->sums.fd < 0 ? rc : hash(win, s);
}

void zr_window_prepare(struct zr_window *win, unsigned lane, size_t task)
{
	size_t i = task * win->task, end = win->count;

	if (end - i > win->task)
		end = i + win->task;
	for (; i < end; i++)
		if (prepare_one(win, lane, i))
			__atomic_store_n(&win->rc, -ENOMEM, __ATOMIC_RELAXED);
}

/* Bytes of a window in which records are copied behind their prefix. */
static uint64_t joined_limit(const struct zr_window *win)
{
	const struct zr_ragged *b = win->a->batch;
	uint64_t least = b->offsets[win->first] - b->offsets[0];
	uint64_t left = b->offsets[win->a->count] - b->offsets[win->first];

	if (left < least)
		least = left;
	if (least / 4 > WINDOW_JOINED)
		return WINDOW_JOINED;
	return least / 4 < WINDOW_LEAST ? WINDOW_LEAST : least / 4;
}

static bool full(const struct zr_window *win, uint64_t joined)
{
	const struct zr_writer *w = win->w;

	if (win->count == WINDOW_RECORDS)
		return true;
	if (w->meta.codec == ZR_RAW)
		return win->bytes >= (win->in_place ? WINDOW_BYTES : joined);
	return win->bytes >= WINDOW_MOST ||
	       (win->bytes >= WINDOW_BYTES && win->count >= w->lanes);
}

/* In the buffer. */
static size_t room_of(const struct zr_window *win, const struct zr_slot *s)
{
	if (stays(win, s))
		return s->head;
	return win->w->meta.codec == ZR_RAW ? s->logic
					    : zr_encode_bound(s->logic);
}

/* Returns how much room they need in the buffer. */
static size_t choose(struct zr_window *win)
{
	size_t place = 0, left = win->a->count - win->first;
	uint64_t joined = win->a->items ? 0 : joined_limit(win);

	win->bytes = 0;
	win->in_place = true;
	for (win->count = 0; win->count < left && !full(win, joined);) {
		struct zr_slot *s = &win->slot[win->count];
		bool here;

		describe(win->a, win->first + win->count, s);
		here = stays(win, s);
		if (win->in_place && !here && win->bytes >= joined &&
		    win->count)
			break;
		win->in_place = win->in_place && here;
		s->place = place;
		place += room_of(win, s);
		win->bytes += s->logic;
		win->count++;
	}
	return place;
}

int zr_window_plan(struct zr_window *win)
{
	size_t room;

	if (zr_buffer_room(&win->mem->slots,
			   WINDOW_RECORDS * sizeof(struct zr_slot)))
		return -ENOMEM;
	win->slot = (struct zr_slot *)(void *)win->mem->slots.p;
	win->written = false;
	room = choose(win);
	if (zr_buffer_room(&win->mem->out, room))
		return -ENOMEM;
	for (size_t i = 0; i < win->count; i++)
		if (win->slot[i].head && stays(win, &win->slot[i]))
			put_prefix(win->a, win->first + i,
				   win->mem->out.p + win->slot[i].place);
	win->task = TASK_BYTES / (win->bytes / win->count + 1) + 1;
	win->tasks = (win->count - 1) / win->task + 1;
	if (win->in_place && win->w->sums.fd < 0)
		win->tasks = 0;
	return 0;
}
