/* SPDX-License-Identifier: BSD-2-Clause
 * Floats to the fewest digits that read back as the same float, spelled as
 * Python's repr does: 3.0, 0.1, 1e+20, nan, -inf. */
#include "float.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A positive finite value: `d` for up to 8 bytes, `ld` for 16, and the bits
 * of a 2-byte one. */
struct real {
	size_t size;
	double d;
	long double ld;
	unsigned half;
};

/* 0.DIGITS times ten to the power of `point`. */
struct decimal {
	char digits[48];
	size_t count;
	int point;
};

/* Of a format: every decimal of `sure` digits survives the way through it,
 * and `all` digits tell all its values apart. */
struct precision {
	int sure, all;
};

static struct precision precision_of(size_t size)
{
	switch (size) {
	case 2:
		return (struct precision){ 3, 5 };
	case 4:
		return (struct precision){ FLT_DIG, FLT_DECIMAL_DIG };
	case 8:
		return (struct precision){ DBL_DIG, DBL_DECIMAL_DIG };
	default:
		return (struct precision){ LDBL_DIG, LDBL_DECIMAL_DIG };
	}
}

/* Also right for the bits of infinity, which then is 65536: the number that
 * the interval of the largest finite one is measured against. */
static double half_value(unsigned bits)
{
	unsigned exponent = bits >> 10, mantissa = bits & 0x3ff;

	if (!exponent)
		return ldexp(mantissa, -24);
	return ldexp(mantissa + 1024, (int)exponent - 25);
}

/* No strtoh exists. The bounds of the interval that rounds to the half are
 * doubles, and 5 digits are never so close to one that strtod hides it. */
static bool half_reads(unsigned bits, double x)
{
	double v = half_value(bits);
	double low = (half_value(bits - 1) + v) / 2;
	double high = (v + half_value(bits + 1)) / 2;

	return (x > low && x < high) ||
	       (!(bits & 1) && (x == low || x == high));
}

/* The text has no decimal point, which would depend on the locale. */
static bool reads_back(const struct real *r, const struct decimal *dec)
{
	char text[80];

	snprintf(text, sizeof(text), "%.*se%d", (int)dec->count, dec->digits,
		 dec->point - (int)dec->count);
	switch (r->size) {
	case 2:
		return half_reads(r->half, strtod(text, NULL));
	case 4:
		return strtof(text, NULL) == (float)r->d;
	case 8:
		return strtod(text, NULL) == r->d;
	default:
		return strtold(text, NULL) == r->ld;
	}
}

/* `count` digits, correctly rounded by printf; whatever the locale puts
 * between them is skipped. */
static void round_to(const struct real *r, int count, struct decimal *dec)
{
	char text[80], *p = text;

	if (r->size == 16)
		snprintf(text, sizeof(text), "%.*Le", count - 1, r->ld);
	else
		snprintf(text, sizeof(text), "%.*e", count - 1, r->d);
	for (dec->count = 0; *p != 'e'; p++)
		if (*p >= '0' && *p <= '9')
			dec->digits[dec->count++] = *p;
	dec->point = (int)strtol(p + 1, NULL, 10) + 1;
}

/* One more in the last digit. */
static void step_up(struct decimal *dec)
{
	size_t i = dec->count;

	while (i && dec->digits[i - 1] == '9')
		dec->digits[--i] = '0';
	if (i) {
		dec->digits[i - 1]++;
		return;
	}
	dec->digits[0] = '1';
	dec->point++;
}

static bool subnormal(const struct real *r)
{
	switch (r->size) {
	case 2:
		return r->half < 1u << 10;
	case 4:
		return r->d < (double)FLT_MIN;
	case 8:
		return r->d < DBL_MIN;
	default:
		return r->ld < LDBL_MIN;
	}
}

/* Values at a power of two have their lower neighbour nearer than the upper
 * one, so that the nearest decimal, below, may miss where the next one above
 * reads back. Everywhere else the nearest is the best try. */
static bool uneven(const struct real *r)
{
	int exponent;

	if (r->size == 16)
		return frexpl(r->ld, &exponent) == 0.5L;
	return frexp(r->d, &exponent) == 0.5;
}

static void shortest(const struct real *r, struct decimal *dec)
{
	struct precision prec = precision_of(r->size);
	int n = subnormal(r) ? 1 : prec.sure;
	bool both = uneven(r);

	for (;; n++) {
		round_to(r, n, dec);
		if (n >= prec.all || reads_back(r, dec))
			break;
		if (!both)
			continue;
		step_up(dec);
		if (reads_back(r, dec))
			break;
	}
	while (dec->count > 1 && dec->digits[dec->count - 1] == '0')
		dec->count--;
}

/* Most floats that people store are short: try m / 10^k. If m has no more
 * digits than the format is sure to keep, and the division, which rounds
 * correctly, gives the value, then no other decimal is as short. */
static bool quick(const struct real *r, struct decimal *dec)
{
	static const double tens[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6 };
	double limit = r->size == 4 ? 1e6 : 1e15;

	if (FLT_EVAL_METHOD || (r->size != 4 && r->size != 8))
		return false;
	for (int k = 0; k < 7 && r->d * tens[k] < limit - 1; k++) {
		uint64_t m = (uint64_t)(r->d * tens[k] + 0.5);
		double back = (double)m / tens[k];
		char *p = dec->digits + sizeof(dec->digits);

		if (!m ||
		    (r->size == 4 ? (float)back != (float)r->d : back != r->d))
			continue;
		for (; m; m /= 10)
			*--p = (char)('0' + m % 10);
		dec->count = (size_t)(dec->digits + sizeof(dec->digits) - p);
		memmove(dec->digits, p, dec->count);
		dec->point = (int)dec->count - k;
		while (dec->count > 1 && dec->digits[dec->count - 1] == '0')
			dec->count--;
		return true;
	}
	return false;
}

static void put_exponent(struct zr_out *o, int exponent)
{
	zr_out_char(o, 'e');
	zr_out_char(o, exponent < 0 ? '-' : '+');
	if (abs(exponent) < 10)
		zr_out_char(o, '0');
	zr_out_u64(o, (uint64_t)abs(exponent));
}

static void put_decimal(struct zr_out *o, const struct decimal *dec)
{
	int point = dec->point, count = (int)dec->count;
	bool exponent = point < -3 || point > 16;
	int whole = exponent ? 1 : point;

	if (whole <= 0)
		zr_out_text(o, "0.");
	for (int i = whole; i < 0; i++)
		zr_out_char(o, '0');
	for (int i = 0; i < count || i < whole; i++) {
		if (i && i == whole)
			zr_out_char(o, '.');
		zr_out_char(o, i < count ? dec->digits[i] : '0');
	}
	if (exponent)
		put_exponent(o, point - 1);
	else if (count <= whole)
		zr_out_text(o, ".0");
}

/* The x87 format has bit patterns that are no number, and some C libraries
 * do not survive printing them. */
static long double load_long(const unsigned char *p)
{
	long double v = 0;
	unsigned char b[16];

	memcpy(b, p, sizeof(b));
#if LDBL_MANT_DIG == 64
	if (!(b[8] | (b[9] & 0x7f)))
		b[8] |= b[7] >> 7;
	else if (!(b[7] & 0x80))
		return (long double)NAN;
#endif
	memcpy(&v, b, sizeof(v) < sizeof(b) ? sizeof(v) : sizeof(b));
	return v;
}

/* Take the sign off. Returns false for infinities and NaN. */
static bool load(struct real *r, const void *value, size_t size, bool *negative,
		 bool *nan)
{
	uint16_t half;
	float f;

	*r = (struct real){ .size = size };
	if (size == 16) {
		r->ld = load_long(value);
		*negative = signbit(r->ld);
		*nan = isnan(r->ld);
		r->ld = fabsl(r->ld);
		return isfinite(r->ld);
	}
	if (size == 8) {
		memcpy(&r->d, value, sizeof(r->d));
	} else if (size == 4) {
		memcpy(&f, value, sizeof(f));
		r->d = (double)f;
	} else {
		memcpy(&half, value, sizeof(half));
		r->half = half & 0x7fff;
		*negative = half >> 15;
		*nan = r->half > 0x7c00;
		r->d = half_value(r->half);
		return r->half < 0x7c00;
	}
	*negative = signbit(r->d);
	*nan = isnan(r->d);
	r->d = fabs(r->d);
	return isfinite(r->d);
}

bool zr_float_finite(const void *value, size_t size)
{
	bool negative, nan;
	struct real r;

	return load(&r, value, size, &negative, &nan);
}

void zr_out_float(struct zr_out *o, const void *value, size_t size, bool plus)
{
	struct decimal dec;
	bool negative, nan, finite;
	struct real r;

	finite = load(&r, value, size, &negative, &nan);
	if (negative && !nan)
		zr_out_char(o, '-');
	else if (plus)
		zr_out_char(o, '+');
	if (!finite) {
		zr_out_text(o, nan ? "nan" : "inf");
		return;
	}
	if (size == 16 ? r.ld == 0 : r.d == 0) {
		zr_out_text(o, "0.0");
		return;
	}
	if (!quick(&r, &dec))
		shortest(&r, &dec);
	put_decimal(o, &dec);
}
