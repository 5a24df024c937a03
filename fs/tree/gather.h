/* SPDX-License-Identifier: BSD-2-Clause
 * The selections that the kernel knows: the files of gather/, which no
 * arithmetic could number.
 *
 * A selection is here from its first LOOKUP until the kernel has forgotten
 * it, and has one number meanwhile; a number is never given out twice. The
 * kernel keeps names as long as it has memory, so beyond a bound in bytes it
 * must be told to drop those that were not used for longest. Any thread. */
#ifndef GATHER_H
#define GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/recent.h"
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
	struct recent_link recent;
	size_t len;
	char text[];
};

/* Returns NULL without memory. */
struct gathers *gathers_new(void);

/* Free all, also what the kernel has not forgotten. NULL is allowed. */
void gathers_free(struct gathers *g);

/* Call crowded(ctx) when there are names for gather_excess. It is called on
 * threads that answer requests. Before any thread serves. */
void gathers_watch(struct gathers *g, void (*crowded)(void *ctx), void *ctx);

/* Store one that the kernel is to drop, if nobody uses it: its stream and its
 * text, of *len bytes, which has room for any name; and in *all whether all of
 * its stream are to be dropped. Returns false if there is none. */
bool gather_excess(struct gathers *g, uint32_t *stream, bool *all, char *text,
		   size_t *len);

/* Hold the selection `text` of a stream of `records` records. It is made,
 * unless it is there. Returns 0, -ENOMEM also if there are far too many, or an
 * error of zr_selection_parse. */
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
