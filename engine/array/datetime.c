/* SPDX-License-Identifier: BSD-2-Clause
 * Points in time to ISO 8601 text, for every unit and every 64-bit count. */
#include "datetime.h"

#include <string.h>

/* Wide enough for any count times any multiplier, in any unit. */
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

#define DAYS_400_YEARS 146097
#define DAYS_100_YEARS 36524 /* the short kind, without the leap day of 400 */
#define DAYS_4_YEARS 1461
/* From 1 March of the year 0 to 1 January 1970. */
#define DAYS_TO_1970 719468

/* Units per day, and the digits of a second that they have. */
static const struct {
	char name[3];
	enum zr_unit unit;
	uint64_t per_day; /* of the second, for what is finer than it */
	unsigned digits;
} units[] = {
	{ "Y", ZR_UNIT_YEAR, 0, 0 },       { "M", ZR_UNIT_MONTH, 0, 0 },
	{ "W", ZR_UNIT_WEEK, 0, 0 },       { "D", ZR_UNIT_DAY, 1, 0 },
	{ "h", ZR_UNIT_HOUR, 24, 0 },      { "m", ZR_UNIT_MINUTE, 1440, 0 },
	{ "s", ZR_UNIT_SECOND, 86400, 0 }, { "ms", ZR_UNIT_MS, 86400, 3 },
	{ "us", ZR_UNIT_US, 86400, 6 },    { "ns", ZR_UNIT_NS, 86400, 9 },
	{ "ps", ZR_UNIT_PS, 86400, 12 },   { "fs", ZR_UNIT_FS, 86400, 15 },
	{ "as", ZR_UNIT_AS, 86400, 18 },
};

struct zr_time zr_time_of(const struct zr_dtype *dtype)
{
	struct zr_time time = { ZR_UNIT_NONE, 1 };
	const char *p = strchr(dtype->str, '[');
	size_t len;

	if (!p)
		return time;
	p++;
	if (*p >= '0' && *p <= '9')
		time.multiplier = 0;
	for (; *p >= '0' && *p <= '9'; p++)
		time.multiplier = time.multiplier * 10 + (uint32_t)(*p - '0');
	len = strcspn(p, "]");
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i].name) == len &&
		    !memcmp(units[i].name, p, len))
			time.unit = units[i].unit;
	return time;
}

/* The quotient rounded down; *rest is in [0, by). */
static wide floor_div(wide v, wide by, wide *rest)
{
	wide q = v / by, r = v % by;

	if (r < 0) {
		q--;
		r += by;
	}
	*rest = r;
	return q;
}

/* As printf's %04d: the sign counts. */
static void put_year(struct zr_out *o, wide year)
{
	uwide v = year < 0 ? 0 - (uwide)year : (uwide)year;
	unsigned width = year < 0 ? 3 : 4;
	char digits[40];
	unsigned n = 0;

	for (; v || n < width; v /= 10)
		digits[n++] = (char)('0' + (int)(v % 10));
	if (year < 0)
		zr_out_char(o, '-');
	while (n)
		zr_out_char(o, digits[--n]);
}

static void put_part(struct zr_out *o, char before, uint64_t v)
{
	zr_out_char(o, before);
	zr_out_padded(o, v, 2);
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* Years are counted from 1 March here, so that the leap day is the last day
 * of a year, and of each longer cycle as well. */
static void put_day(struct zr_out *o, wide days)
{
	static const int lengths[] = { 31, 30, 31, 30, 31, 31,
				       30, 31, 30, 31, 31, 29 };
	wide rest,
		year = floor_div(days + DAYS_TO_1970, DAYS_400_YEARS, &rest) *
		       400;
	int day = (int)rest, n, month = 0;

	n = least(day / DAYS_100_YEARS, 3);
	day -= n * DAYS_100_YEARS;
	year += n * 100;
	n = day / DAYS_4_YEARS;
	day -= n * DAYS_4_YEARS;
	year += n * 4;
	n = least(day / 365, 3);
	day -= n * 365;
	year += n;
	for (; day >= lengths[month]; month++)
		day -= lengths[month];
	month += 3;
	if (month > 12) {
		month -= 12;
		year++;
	}
	put_year(o, year);
	put_part(o, '-', (uint64_t)month);
	put_part(o, '-', (uint64_t)day + 1);
}

/* `rest` units of a day that has `per_day`, down to seconds. */
static void put_clock(struct zr_out *o, enum zr_unit unit, uint64_t rest,
		      uint64_t per_day)
{
	uint64_t second = rest * (86400 / per_day);

	put_part(o, 'T', second / 3600);
	if (unit >= ZR_UNIT_MINUTE)
		put_part(o, ':', second / 60 % 60);
	if (unit >= ZR_UNIT_SECOND)
		put_part(o, ':', second % 60);
}

void zr_out_date(struct zr_out *o, struct zr_time time, int64_t v)
{
	wide n = (wide)v * time.multiplier, rest, fraction, scale = 1;
	size_t i = time.unit - ZR_UNIT_YEAR;

	if (time.unit == ZR_UNIT_NONE) {
		zr_out_i64(o, v);
		return;
	}
	if (time.unit == ZR_UNIT_YEAR) {
		put_year(o, n + 1970);
		return;
	}
	if (time.unit == ZR_UNIT_MONTH) {
		put_year(o, floor_div(n, 12, &rest) + 1970);
		put_part(o, '-', (uint64_t)rest + 1);
		return;
	}
	if (time.unit == ZR_UNIT_WEEK) {
		put_day(o, n * 7);
		return;
	}
	for (unsigned d = 0; d < units[i].digits; d++)
		scale *= 10;
	n = floor_div(n, scale, &fraction);
	put_day(o, floor_div(n, (wide)units[i].per_day, &rest));
	if (time.unit == ZR_UNIT_DAY)
		return;
	put_clock(o, time.unit, (uint64_t)rest, units[i].per_day);
	if (!units[i].digits)
		return;
	zr_out_char(o, '.');
	zr_out_padded(o, (uint64_t)fraction, units[i].digits);
}
