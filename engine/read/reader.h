/* SPDX-License-Identifier: BSD-2-Clause
 * The room read: records out of an open container: one, a part of one, many at
 * once.
 *
 * What one thread that reads has: the fields of a reader. */
#ifndef ZR_READER_H
#define ZR_READER_H

#include "fetch.h"

struct zr_reader {
	const struct zr_container *c;
	struct zr_executor *ex;
	unsigned lanes;
	struct zr_buffer record; /* bytes of record `record_id` */
	uint64_t record_id;      /* ZR_NONE: nothing is kept */
	int rank; /* of all records gathered so far, or ZR_RANK_* */
	struct zr_lane lane[]; /* lanes; [0] is the caller's */
};

#define ZR_RANK_UNKNOWN (-1)
#define ZR_RANK_MIXED (-2)

#endif
