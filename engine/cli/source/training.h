/* SPDX-License-Identifier: BSD-2-Clause
 * A dictionary trained on a source. */
#ifndef TRAINING_H
#define TRAINING_H

#include "source.h"

/* How much dictionary, at most, and how much data to train on. */
struct tier {
	const char *name;
	size_t dict_bytes;
	size_t sample_bytes;
};

/* By name; NULL: "balanced". Returns NULL if there is none of that name. */
const struct tier *tier_find(const char *name);

/* Samples: records of a source, one after the other. */
struct samples {
	unsigned char *data;
	size_t len, room;
	size_t *sizes;
	size_t count, sizes_room;
	uint64_t source; /* bytes of all records, UINT64_MAX: unknown */
};

void samples_free(struct samples *s);

/* Take records at even distances, up to the budget of the tier and one record,
 * of large ones the beginnings, then rewind. The source must rewind. */
int samples_take(struct samples *s, struct source *src,
		 const struct tier *tier);

/* Of a source that cannot be read twice: its first records, which it then no
 * longer has, up to the budget of the tier. */
int samples_take_first(struct samples *s, struct source *src,
		       const struct tier *tier);

/* Train; *dict is the caller's to free. CLI_FAILED after printing, with what
 * to do instead. */
int samples_train(const struct samples *s, const struct tier *tier,
		  const char *instead, unsigned char **dict, size_t *bytes);

#endif
