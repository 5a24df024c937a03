/* SPDX-License-Identifier: BSD-2-Clause
 * The selections that the kernel knows: the files of gather/, which no
 * arithmetic could number.
 *
 * A selection is here from its first LOOKUP until the kernel has forgotten
 * it, and has one number meanwhile; a number is never given out twice. Any
 * thread. */
#ifndef GATHER_H
#define GATHER_H

#include <stddef.h>
#include <stdint.h>

#include "zrecord.h"

struct gathers;

/* Immutable while it is held or the kernel knows it. */
struct gather {
	struct zr_selection selection;
	uint64_t number; /* node.index */
	uint32_t stream;
	/* The rest belongs to gather.c, under its lock. */
	uint64_t refs; /* of the kernel, and of those who hold it */
	struct gather *by_text, *by_number;
	size_t len;
	char text[];
};

/* Returns NULL without memory. */
struct gathers *gathers_new(void);

/* Free all, also what the kernel has not forgotten. NULL is allowed. */
void gathers_free(struct gathers *g);

/* Hold the selection `text` of a stream of `records` records. It is made,
 * unless it is there. Returns 0, or an error of zr_selection_parse. */
int gather_find(struct gathers *g, uint32_t stream, const char *text,
		size_t len, uint64_t records, const struct gather **out);

/* Hold the selection that has this number. Returns NULL if there is none, or
 * none any more. */
const struct gather *gather_hold(struct gathers *g, uint64_t number);

/* Give `refs` holds back: one's own, or those of the kernel, of which each
 * answer to a LOOKUP has made one. */
void gather_drop(struct gathers *g, uint64_t number, uint64_t refs);

/* Return how many there are. */
size_t gathers_count(struct gathers *g);

#endif
