/* SPDX-License-Identifier: BSD-2-Clause
 * Points in time as text. */
#ifndef ZR_DATETIME_H
#define ZR_DATETIME_H

#include "out.h"

/* The unit of a time dtype, coarsest first. */
enum zr_unit {
	ZR_UNIT_NONE,
	ZR_UNIT_YEAR,
	ZR_UNIT_MONTH,
	ZR_UNIT_WEEK,
	ZR_UNIT_DAY,
	ZR_UNIT_HOUR,
	ZR_UNIT_MINUTE,
	ZR_UNIT_SECOND,
	ZR_UNIT_MS,
	ZR_UNIT_US,
	ZR_UNIT_NS,
	ZR_UNIT_PS,
	ZR_UNIT_FS,
	ZR_UNIT_AS
};
struct zr_time {
	enum zr_unit unit;
	uint32_t multiplier;
};
#define ZR_NAT INT64_MIN

struct zr_time zr_time_of(const struct zr_dtype *dtype);
/* ISO 8601 as NumPy writes it; any value but NaT. */
void zr_out_date(struct zr_out *o, struct zr_time time, int64_t v);

#endif
