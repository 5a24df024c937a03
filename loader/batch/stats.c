/* SPDX-License-Identifier: BSD-2-Clause
 * Counters: where the time of a loader went. */
#include <inttypes.h>
#include <stdio.h>

#include "caller.h"

void zl_stats(struct zl_loader *l, struct zl_stats *stats)
{
	bool lock = !zl_forked(l);

	if (lock)
		pthread_mutex_lock(&l->lock);
	*stats = (struct zl_stats){
		.batches = l->stats.batches,
		.records = l->stats.records,
		.bytes = l->stats.bytes,
		.skipped = l->stats.skipped,
		.gather_ns = l->stats.gather_ns,
		.transform_ns = l->stats.transform_ns,
		.wait_ring_ns = l->stats.wait_ring_ns,
		.wait_work_ns = l->stats.wait_work_ns,
		.wait_batch_ns = l->stats.wait_batch_ns,
		/* These two change outside the lock. */
		.ring_bytes =
			__atomic_load_n(&l->stats.ring_bytes, __ATOMIC_RELAXED),
		.pinned_bytes = __atomic_load_n(&l->stats.pinned_bytes,
						__ATOMIC_RELAXED),
	};
	if (lock)
		pthread_mutex_unlock(&l->lock);
}

void zl_stats_text(const struct zl_stats *s, char *buf, size_t size)
{
	double mib = 1024 * 1024, sec = 1e9;

	snprintf(
		buf, size,
		"delivered   %" PRIu64 " batches, %" PRIu64
		" records, skipped %" PRIu64 "\n"
		"gathered    %.1f MiB in %.3f s\n"
		"transformed in %.3f s\n"
		"waited      %.3f s for batches (the loader is the slow side)\n"
		"            %.3f s for room in the ring (the caller is)\n"
		"            %.3f s for work (transform threads)\n"
		"ring        %.1f MiB, %.1f MiB pinned\n",
		s->batches, s->records, s->skipped, (double)s->bytes / mib,
		(double)s->gather_ns / sec, (double)s->transform_ns / sec,
		(double)s->wait_batch_ns / sec, (double)s->wait_ring_ns / sec,
		(double)s->wait_work_ns / sec, (double)s->ring_bytes / mib,
		(double)s->pinned_bytes / mib);
}
