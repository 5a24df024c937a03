/* SPDX-License-Identifier: BSD-2-Clause
 * Writing the integrity sidecar check.zr (FORMAT.md F13). */
#ifndef ZR_SUMS_WRITE_H
#define ZR_SUMS_WRITE_H

#include "format/sums.h"

struct zr_sums_writer {
	int fd;      /* check.zr, -1: not written */
	int dims_fd; /* dims until they are placed */
	int dir;     /* of both, the caller's */
	size_t row;
	uint64_t dims; /* so far; rolled back with the records */
	uint64_t dict_hash;
	uint64_t *kept; /* dims not yet in dims_fd */
	size_t kept_count;
	uint64_t kept_from;
};

int zr_sums_start(struct zr_sums_writer *w, int dir, enum zr_kind kind);
/* Add the dims of the next record. */
int zr_sums_add_dims(struct zr_sums_writer *w, const uint64_t *dims,
		     size_t count);
/* Write rows [first, first + count). */
int zr_sums_write_rows(struct zr_sums_writer *w, const unsigned char *rows,
		       uint64_t first, size_t count);
/* Put everything in its place and sync it. */
int zr_sums_finish(struct zr_sums_writer *w, uint64_t records, uint64_t tail,
		   const unsigned char *meta_head);
void zr_sums_end(struct zr_sums_writer *w);

#endif
