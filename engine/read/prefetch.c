/* SPDX-License-Identifier: BSD-2-Clause
 * Records that are not in the page cache: asked of the disk together, before
 * the first one is waited for. */
#include "prefetch.h"

#include <fcntl.h>
#include <sys/resource.h>

/* After so many looks in a row with hardly any I/O the data counts as in
 * memory, and asking for it, which costs a system call a record, ends. */
#define QUIET_LOOKS 16u

/* Asking for all records costs more than waiting for a few: of a gather, or of
 * a thread's share in it, so much must come from the disk. */
#define SOME_IO 32u

/* Records no further apart are asked for together. */
#define GAP_BYTES 16384u

bool zr_is_cold(const struct zr_container *c)
{
	if (c->data.bytes && !c->data.mapped)
		return false;
	return c->data.remote ||
	       atomic_load_explicit(&c->disk->quiet, memory_order_relaxed) <
		       QUIET_LOOKS;
}

uint64_t zr_thread_io(void)
{
	struct rusage use;

	if (getrusage(RUSAGE_THREAD, &use))
		return 0;
	return 512 * (uint64_t)use.ru_inblock + 4096 * (uint64_t)use.ru_majflt;
}

void zr_saw_io(const struct zr_container *c, uint64_t io, uint64_t bytes)
{
	bool some = io && io >= bytes / SOME_IO;
	unsigned quiet =
		atomic_load_explicit(&c->disk->quiet, memory_order_relaxed);

	/* Several threads may tell at once: a look more or less is no loss. */
	if (some ? quiet : quiet < QUIET_LOOKS)
		atomic_store_explicit(&c->disk->quiet, some ? 0 : quiet + 1,
				      memory_order_relaxed);
}

/* Returns the bytes asked for. */
static uint64_t ask_span(const struct zr_container *c, uint64_t start,
			 uint64_t end)
{
	if (end > start)
		(void)posix_fadvise(c->data_fd, (off_t)start,
				    (off_t)(end - start), POSIX_FADV_WILLNEED);
	return end - start;
}

uint64_t zr_ask(const struct zr_container *c, const uint64_t *ids, size_t count)
{
	uint64_t start = 0, end = 0, asked = 0;
	struct zr_entry e;

	for (size_t i = 0; i < count; i++) {
		if (zr_locate(c, ids[i], &e, NULL))
			continue;
		if (e.offset < start ||
		    (e.offset > end && e.offset - end > GAP_BYTES)) {
			asked += ask_span(c, start, end);
			start = end = e.offset;
		}
		if (e.offset + e.stored > end)
			end = e.offset + e.stored;
	}
	return asked + ask_span(c, start, end);
}

void zr_prefetch(const struct zr_container *c, const uint64_t *ids,
		 size_t count)
{
	uint64_t before, asked;

	if (!count || !zr_is_cold(c))
		return;
	before = zr_thread_io();
	asked = zr_ask(c, ids, count);
	zr_saw_io(c, zr_thread_io() - before, asked);
}
