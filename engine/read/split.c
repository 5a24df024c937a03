/* SPDX-License-Identifier: BSD-2-Clause
 * How the records of a gather are divided into tasks.
 *
 * The first store to a page of fresh memory waits until the kernel has filled
 * it with zeros, and a page of a large array is mostly one of 2 MiB. Threads
 * that store there at the same time each fill one, and all but one are thrown
 * away. So a page belongs to one task, and to the next only its beginning, for
 * the record that started before it. Two pages for a task are less of that. */
#include "split.h"

#include <stdbool.h>
#include <sys/mman.h>

#define PAGE ((uintptr_t)4096)
#define HUGE_PAGE ((uint64_t)2 << 20)

static uint64_t place_of(const struct zr_split *s, size_t i)
{
	return s->places ? s->places[i] : i * s->width;
}

/* The first record that starts at `place` or behind it. */
static size_t record_at(const struct zr_split *s, uint64_t place)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (place_of(s, mid) < place)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Not known is no: then it is divided as memory that is there. */
static bool is_fresh(uintptr_t at)
{
	unsigned char there;

	/* An address of the caller's memory; the library does not store. */
	return !mincore((void *)(at & ~(PAGE - 1)), 1, &there) && !(there & 1);
}

void zr_split_fresh(struct zr_split *s, const void *dst, uint64_t bytes,
		    unsigned threads)
{
	uint64_t start = -(uintptr_t)dst & (HUGE_PAGE - 1), pages;

	if (bytes < start || threads < 2)
		return;
	pages = (bytes - start) / HUGE_PAGE;
	/* The last: where memory is used again, it is what was added. */
	if (pages < 2 * (uint64_t)threads ||
	    !is_fresh((uintptr_t)dst +
		      (uintptr_t)(start + (pages - 1) * HUGE_PAGE)))
		return;
	s->chunk = (pages < 8 * (uint64_t)threads ? 1 : 2) * HUGE_PAGE;
	s->chunks = (size_t)((bytes - start) / s->chunk);
	s->start = start;
	s->head = record_at(s, start);
	s->tail = record_at(s, start + s->chunks * s->chunk);
}

static size_t runs(const struct zr_split *s, size_t records)
{
	return records / s->run + (records % s->run != 0);
}

size_t zr_split_tasks(const struct zr_split *s)
{
	return s->chunks + runs(s, s->head) + runs(s, s->count - s->tail);
}

void zr_split_span(const struct zr_split *s, size_t task, size_t *first,
		   size_t *end)
{
	size_t limit = s->head, before = runs(s, s->head);

	if (task < s->chunks) {
		*first = record_at(s, s->start + task * s->chunk);
		*end = record_at(s, s->start + (task + 1) * s->chunk);
		return;
	}
	task -= s->chunks;
	*first = task * s->run;
	if (task >= before) {
		*first = s->tail + (task - before) * s->run;
		limit = s->count;
	}
	*end = limit - *first < s->run ? limit : *first + s->run;
}
