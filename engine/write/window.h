/* SPDX-License-Identifier: BSD-2-Clause
 * Some records of an append on their way to data.zr. */
#ifndef ZR_WRITE_WINDOW_H
#define ZR_WRITE_WINDOW_H

#include "state.h"

/* A record of a window and its stored bytes: where the caller has them, or in
 * the buffer of the window. */
struct zr_slot {
	const unsigned char *stored;
	size_t len;
	size_t head;   /* bytes before them that are in the buffer: a prefix */
	size_t place;  /* in the buffer */
	uint64_t hash; /* of the stored bytes, if there is a check.zr */
	uint32_t logic;
};

struct zr_window {
	struct zr_writer *w;
	const struct zr_append *a;
	struct zr_window_memory *mem;
	size_t first, count; /* records of the append */
	size_t bytes;        /* of the records */
	bool in_place;       /* nothing is copied or encoded: may be written
			      * before and while it is prepared */
	bool written;
	uint64_t at; /* place in data.zr */
	size_t task; /* records of a task of preparing */
	size_t tasks;
	struct zr_slot *slot;
	int rc; /* -ENOMEM from any task */
};

/* Choose the records from win->first on and make room for their stored bytes.
 * Returns 0 or -ENOMEM. */
int zr_window_plan(struct zr_window *win);

/* One task of making stored bytes and hashes. */
void zr_window_prepare(struct zr_window *win, unsigned lane, size_t task);

#endif
