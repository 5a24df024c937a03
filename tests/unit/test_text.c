/* SPDX-License-Identifier: BSD-2-Clause
 * Arrays as text and as JSON. tests/interop/npy_numpy.py compares many more
 * values with NumPy. */
#include <criterion/criterion.h>
#include <errno.h>
#include <float.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "make.h"
#include "zrecord.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

struct buffer {
	char text[1 << 16];
	size_t len;
};

static int append(void *ctx, const char *text, size_t len)
{
	struct buffer *b = ctx;

	cr_assert(len > 0 && b->len + len < sizeof(b->text));
	memcpy(b->text + b->len, text, len);
	b->len += len;
	b->text[b->len] = '\0';
	return 0;
}

typedef int convert_fn(const struct zr_dtype *dtype,
		       const struct zr_shape *shape, const void *elements,
		       zr_put_fn put, void *ctx);

/* The text of `size` bytes of elements, which lie at an odd address and have
 * nothing behind them. In static memory. */
static const char *convert(convert_fn *fn, const char *descr,
			   struct zr_shape shape, const void *elements,
			   size_t size)
{
	static struct buffer out;
	struct zr_dtype d = make_dtype(descr);
	unsigned char *odd = malloc(size + 1);
	uint64_t bytes;

	cr_assert(zr_shape_size(&d, &shape, NULL, &bytes) == 0);
	cr_assert(bytes == size, "%s: %zu bytes of %llu", descr, size,
		  (unsigned long long)bytes);
	memcpy(odd + 1, elements, size);
	out.len = 0;
	out.text[0] = '\0';
	cr_assert(fn(&d, &shape, odd + 1, append, &out) == 0);
	free(odd);
	return out.text;
}

#define SHAPE(n, ...) ((struct zr_shape){ .rank = n, .dims = { __VA_ARGS__ } })

/* One element, written "descr", then its bytes as they are stored. */
Test(text, writes_values)
{
	static const struct {
		const char *descr, *bytes, *text, *json;
	} rows[] = {
		{ "|b1", "\0", "0", "false" },
		{ "|b1", "\1", "1", "true" },
		{ "|b1", "\2", "1", "true" },
		{ "|u1", "\xff", "255", "255" },
		{ "|i1", "\x80", "-128", "-128" },
		{ "|i1", "\0", "0", "0" },
		{ "<i2", "\0\x80", "-32768", "-32768" },
		{ ">i2", "\x80\0", "-32768", "-32768" },
		{ "<u2", "\1\2", "513", "513" },
		{ ">u2", "\1\2", "258", "258" },
		{ ">i4", "\xff\xff\xff\x9d", "-99", "-99" },
		{ "<u4", "\xff\xff\xff\xff", "4294967295", "4294967295" },
		{ "<i8", "\0\0\0\0\0\0\0\x80", "-9223372036854775808",
		  "-9223372036854775808" },
		{ ">u8", "\xff\xff\xff\xff\xff\xff\xff\xff",
		  "18446744073709551615", "18446744073709551615" },
		{ "<f2", "\0\x3c", "1.0", "1.0" },
		{ ">f2", "\x3c\0", "1.0", "1.0" },
		{ "<f2", "\0\0", "0.0", "0.0" },
		{ "<f2", "\0\x80", "-0.0", "-0.0" },
		{ "<f2", "\1\0", "6e-08", "6e-08" },
		{ "<f2", "\xff\x03", "6.1e-05", "6.1e-05" },
		{ "<f2", "\0\x04", "6.104e-05", "6.104e-05" },
		{ "<f2", "\xff\x7b", "65500.0", "65500.0" },
		{ "<f2", "\0\x7c", "inf", "\"inf\"" },
		{ "<f2", "\1\xfc", "nan", "\"nan\"" },
		{ ">f4", "\x3d\xcc\xcc\xcd", "0.1", "0.1" },
		{ "<f4", "\1\0\0\0", "1e-45", "1e-45" },
		{ "<f4", "\0\0\x80\0", "1.1754944e-38", "1.1754944e-38" },
		{ "<f4", "\xff\xff\x7f\x7f", "3.4028235e+38", "3.4028235e+38" },
		{ "<f4", "\0\0\x80\x4b", "16777216.0", "16777216.0" },
		{ "<f4", "\0\0\x80\xff", "-inf", "\"-inf\"" },
		{ "<f4", "\0\0\xc0\xff", "nan", "\"nan\"" },
		{ "<f8", "\0\0\0\0\0\0\x08\x40", "3.0", "3.0" },
		{ "<f8", "\1\0\0\0\0\0\0\0", "5e-324", "5e-324" },
		{ ">f8", "\x7f\xef\xff\xff\xff\xff\xff\xff",
		  "1.7976931348623157e+308", "1.7976931348623157e+308" },
		{ "<f8", "\x9a\x99\x99\x99\x99\x99\xb9\x3f", "0.1", "0.1" },
		{ ">f8", "\x43\x41\xc3\x79\x37\xe0\x80\0", "1e+16", "1e+16" },
		{ ">f8", "\x43\x41\xc3\x79\x37\xe0\x7f\xff",
		  "9999999999999998.0", "9999999999999998.0" },
		{ ">f8", "\x3f\x1a\x36\xe2\xeb\x1c\x43\x2d", "0.0001",
		  "0.0001" },
		{ ">f8", "\x3e\xe4\xf8\xb5\x88\xe3\x68\xf1", "1e-05", "1e-05" },
		/* 2^-44: of 16 digits the nearest does not read back. */
		{ ">f8", "\x3d\x30\0\0\0\0\0\0", "5.684341886080802e-14",
		  "5.684341886080802e-14" },
		{ "<c8", "\0\0\x80\x3f\0\0\0\xc0", "(1.0-2.0j)",
		  "\"(1.0-2.0j)\"" },
		{ ">c8", "\x80\0\0\0\x7f\xc0\0\0", "(-0.0+nanj)",
		  "\"(-0.0+nanj)\"" },
		{ ">c8", "\xff\x80\0\0\x80\0\0\0", "(-inf-0.0j)",
		  "\"(-inf-0.0j)\"" },
		{ "<c16", "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\xf0\x7f",
		  "(1.0+infj)", "\"(1.0+infj)\"" },
		{ "<m8[s]", "\xfb\xff\xff\xff\xff\xff\xff\xff", "-5", "-5" },
		{ ">m8", "\x80\0\0\0\0\0\0\0", "NaT", "\"NaT\"" },
		{ "|V3", "\0\xab\x7f", "00ab7f", "\"00ab7f\"" },
		{ "|S1", "a", "a", "\"a\"" },
		{ "|S4", "ab\0\0", "ab", "\"ab\"" },
		{ "|S4", "\0\0\0\0", "\"\"", "\"\"" },
		{ "|S4", "a\0b\0", "a\\x00b", "\"a\\u0000b\"" },
		{ "|S3", "a b", "a\\x20b", "\"a b\"" },
		{ "|S3", "\"\\\n", "\\\"\\\\\\x0a", "\"\\\"\\\\\\u000a\"" },
		{ "|S3", "\x1b\x7f\xe9", "\\x1b\\x7f\\xe9",
		  "\"\\u001b\\u007f\xc3\xa9\"" },
		{ "<U2", "a\0\0\0\0\0\0\0", "a", "\"a\"" },
		{ ">U2", "\0\0\0a\0\0\0\0", "a", "\"a\"" },
		{ "<U1", "\0\0\0\0", "\"\"", "\"\"" },
		{ "<U1", "\xe9\0\0\0", "\xc3\xa9", "\"\xc3\xa9\"" },
		{ ">U1", "\0\0\x20\xac", "\xe2\x82\xac", "\"\xe2\x82\xac\"" },
		{ ">U1", "\0\1\xf6\0", "\xf0\x9f\x98\x80",
		  "\"\xf0\x9f\x98\x80\"" },
		{ ">U1", "\0\0\x20\x2e", "\\u202e", "\"\\u202e\"" },
		{ ">U1", "\0\0\xd8\0", "\\ud800", "\"\\ud800\"" },
		{ ">U1", "\0\x11\0\0", "\\U00110000", "\"\xef\xbf\xbd\"" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct zr_dtype d = make_dtype(rows[i].descr);
		char want[256];
		const char *got;

		snprintf(want, sizeof(want), "%s\n", rows[i].text);
		got = convert(zr_text, rows[i].descr, SHAPE(0, 0),
			      rows[i].bytes, d.itemsize);
		cr_expect(!strcmp(got, want), "%s: %s", rows[i].text, got);
		got = convert(zr_json, rows[i].descr, SHAPE(0, 0),
			      rows[i].bytes, d.itemsize);
		cr_expect(!strcmp(got, rows[i].json), "%s: %s", rows[i].json,
			  got);
	}
}

Test(text, writes_dates)
{
	static const struct {
		const char *descr;
		int64_t value;
		const char *text;
	} rows[] = {
		{ "<M8[Y]", 0, "1970" },
		{ "<M8[Y]", -1970, "0000" },
		{ "<M8[Y]", -1971, "-001" },
		{ "<M8[Y]", 8030, "10000" },
		{ "<M8[Y]", INT64_MAX, "9223372036854777777" },
		{ "<M8[M]", -1, "1969-12" },
		{ "<M8[M]", 13, "1971-02" },
		{ "<M8[W]", -5, "1969-11-27" },
		{ "<M8[D]", 0, "1970-01-01" },
		{ "<M8[D]", -719468, "0000-03-01" },
		{ "<M8[D]", -719469, "0000-02-29" },
		{ "<M8[D]", 11016, "2000-02-29" },
		{ "<M8[D]", 11322, "2000-12-31" },
		{ "<M8[D]", -25509, "1900-02-28" },
		{ "<M8[D]", -25508, "1900-03-01" },
		{ "<M8[D]", INT64_MAX, "25252734927768524-07-27" },
		{ "<M8[h]", -1, "1969-12-31T23" },
		{ "<M8[m]", 5, "1970-01-01T00:05" },
		{ "<M8[s]", INT64_MAX, "292277026596-12-04T15:30:07" },
		{ "<M8[s]", -INT64_MAX, "-292277022657-01-27T08:29:53" },
		{ "<M8[ms]", -1, "1969-12-31T23:59:59.999" },
		{ "<M8[us]", 1, "1970-01-01T00:00:00.000001" },
		{ "<M8[ns]", INT64_MAX, "2262-04-11T23:47:16.854775807" },
		{ "<M8[ps]", 1, "1970-01-01T00:00:00.000000000001" },
		{ "<M8[25fs]", 3, "1970-01-01T00:00:00.000000000000075" },
		{ "<M8[as]", -1, "1969-12-31T23:59:59.999999999999999999" },
		{ "<M8[7W]", 3, "1970-05-28" },
		{ "<M8[2147483647Y]", INT64_MAX,
		  "19807040619342712359383730099" },
		{ "<M8[s]", INT64_MIN, "NaT" },
		{ "<M8", INT64_MIN, "NaT" },
		{ "<M8", 5, "5" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char want[256], big[32];
		unsigned char swapped[8];
		const char *got;

		snprintf(want, sizeof(want), "%s\n", rows[i].text);
		got = convert(zr_text, rows[i].descr, SHAPE(0, 0),
			      &rows[i].value, 8);
		cr_expect(!strcmp(got, want), "%s: %s", rows[i].text, got);
		snprintf(big, sizeof(big), ">%s", rows[i].descr + 1);
		for (size_t k = 0; k < 8; k++)
			swapped[7 - k] =
				(unsigned char)((uint64_t)rows[i].value >>
						8 * k);
		snprintf(want, sizeof(want), "\"%s\"", rows[i].text);
		got = convert(zr_json, big, SHAPE(0, 0), swapped, 8);
		cr_expect(!strcmp(got, want), "%s: %s", rows[i].text, got);
	}
}

Test(text, lays_out_arrays)
{
	static const unsigned char bytes[] = { 1, 2, 3, 4,  5,  6,
					       7, 8, 9, 10, 11, 12 };
	static const struct {
		struct zr_shape shape;
		size_t size;
		const char *text, *json;
	} rows[] = {
		{ { 0, { 0 } }, 1, "1\n", "1" },
		{ { 1, { 1 } }, 1, "1\n", "[1]" },
		{ { 1, { 3 } }, 3, "1 2 3\n", "[1, 2, 3]" },
		{ { 2, { 2, 3 } },
		  6,
		  "1 2 3\n4 5 6\n",
		  "[[1, 2, 3], [4, 5, 6]]" },
		{ { 2, { 3, 1 } }, 3, "1\n2\n3\n", "[[1], [2], [3]]" },
		{ { 3, { 2, 2, 2 } },
		  8,
		  "1 2\n3 4\n\n5 6\n7 8\n",
		  "[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]" },
		{ { 3, { 2, 1, 2 } },
		  4,
		  "1 2\n\n3 4\n",
		  "[[[1, 2]], [[3, 4]]]" },
		{ { 4, { 2, 2, 1, 2 } },
		  8,
		  "1 2\n\n3 4\n\n5 6\n\n7 8\n",
		  "[[[[1, 2]], [[3, 4]]], [[[5, 6]], [[7, 8]]]]" },
		{ { 1, { 0 } }, 0, "", "[]" },
		{ { 2, { 2, 0 } }, 0, "", "[[], []]" },
		{ { 2, { 0, 3 } }, 0, "", "[]" },
		{ { 3, { 2, 0, 3 } }, 0, "", "[[], []]" },
		{ { 3, { 2, 2, 0 } }, 0, "", "[[[], []], [[], []]]" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *got = convert(zr_text, "|u1", rows[i].shape, bytes,
					  rows[i].size);

		cr_expect(!strcmp(got, rows[i].text), "row %zu: %s", i, got);
		got = convert(zr_json, "|u1", rows[i].shape, bytes,
			      rows[i].size);
		cr_expect(!strcmp(got, rows[i].json), "row %zu: %s", i, got);
	}
}

Test(text, writes_rank_64)
{
	struct zr_shape shape = { .rank = 64 };
	char want[512] = { 0 };

	for (int i = 0; i < 64; i++)
		shape.dims[i] = 1;
	shape.dims[0] = 2;
	cr_expect(!strcmp(convert(zr_text, "|u1", shape, "\7\10", 2),
			  "7\n\n8\n"));
	memset(want, '[', 64);
	strcat(want, "7");
	memset(want + 65, ']', 63);
	strcat(want, ", ");
	memset(want + 130, '[', 63);
	strcat(want, "8");
	memset(want + 194, ']', 64);
	cr_expect(!strcmp(convert(zr_json, "|u1", shape, "\7\10", 2), want));
}

Test(text, rejects_a_shape_that_has_no_size)
{
	struct zr_dtype d = make_dtype("<f4");
	struct zr_shape shape = { .rank = 65 };
	struct buffer out = { .len = 0 };

	cr_expect(zr_text(&d, &shape, "", append, &out) == -EINVAL);
	cr_expect(zr_json(&d, &shape, "", append, &out) == -EINVAL);
	shape = SHAPE(2, UINT64_C(1) << 32, UINT64_C(1) << 32);
	cr_expect(zr_text(&d, &shape, "", append, &out) == -EINVAL);
	cr_expect(zr_json(&d, &shape, "", append, &out) == -EINVAL);
}

struct refusal {
	int calls;
	size_t len;
};

static int refuse(void *ctx, const char *text, size_t len)
{
	struct refusal *r = ctx;

	(void)text;
	r->len += len;
	return ++r->calls < 3 ? 0 : -EPIPE;
}

Test(text, ends_when_put_fails)
{
	size_t n = 1 << 20;
	struct zr_dtype d = make_dtype("<f8");
	struct zr_shape shape = SHAPE(2, n / 8, 8);
	double *zeros = calloc(n, sizeof(*zeros));
	struct refusal text = { 0 }, json = { 0 };

	cr_expect(zr_text(&d, &shape, zeros, refuse, &text) == -EPIPE);
	cr_expect(zr_json(&d, &shape, zeros, refuse, &json) == -EPIPE);
	cr_expect(text.calls == 3 && json.calls == 3);
	cr_expect(text.len < 100000 && json.len < 100000);
	free(zeros);
}

/* Longer than any buffer inside. */
Test(text, writes_long_strings)
{
	enum { n = 50000 };
	static char a[n];
	const char *got;

	memset(a, 'x', n);
	got = convert(zr_text, "|S50000", SHAPE(1, 1), a, n);
	cr_expect(strlen(got) == n + 1 && strspn(got, "x") == n);
	got = convert(zr_json, "|S50000", SHAPE(1, 1), a, n);
	cr_expect(strlen(got) == n + 4 && strspn(got + 2, "x") == n);
	got = convert(zr_text, "|V20000", SHAPE(1, 1), a, 20000);
	cr_expect(strlen(got) == 40001 && strspn(got, "78") == 40000);
}

/* Every half, and doubles and floats of every exponent. */
Test(text, reads_back)
{
	uint64_t state = 1;

	for (int i = 0; i < 40000; i++) {
		double d, back;
		float f;
		const char *got;

		state = state * UINT64_C(6364136223846793005) +
			UINT64_C(1442695040888963407);
		d = 0;
		memcpy(&d, &state, sizeof(d));
		memcpy(&f, (char *)&state + 4, sizeof(f));
		got = convert(zr_text, "<f8", SHAPE(0, 0), &d, sizeof(d));
		back = strtod(got, NULL);
		cr_expect(d != d || !memcmp(&back, &d, sizeof(d)), "%a: %s", d,
			  got);
		got = convert(zr_text, "<f4", SHAPE(0, 0), &f, sizeof(f));
		cr_expect(f != f || strtof(got, NULL) == f, "%a: %s", (double)f,
			  got);
	}
}

#if LDBL_MANT_DIG == 64
Test(text, writes_long_doubles)
{
	static const struct {
		unsigned char top[2]; /* exponent and sign, little-endian */
		uint64_t mantissa;
		const char *text;
	} rows[] = {
		{ { 0xff, 0x3f }, UINT64_C(1) << 63, "1.0\n" },
		{ { 0xff, 0xbf }, UINT64_C(1) << 63, "-1.0\n" },
		{ { 0xfb, 0x3f }, UINT64_C(0xcccccccccccccccd), "0.1\n" },
		{ { 0xfe, 0x7f }, UINT64_MAX, "1.189731495357231765e+4932\n" },
		{ { 0, 0 }, 1, "4e-4951\n" },
		{ { 0, 0 }, 0, "0.0\n" },
		{ { 0xff, 0x7f }, UINT64_C(1) << 63, "inf\n" },
		{ { 0xff, 0x7f }, UINT64_C(3) << 62, "nan\n" },
		/* Not numbers of this format: printf may fail on them. */
		{ { 0xff, 0x3f }, 0, "nan\n" },
		{ { 0x04, 0x04 }, 0x0404040404040404, "nan\n" },
		{ { 0xff, 0x7f }, 0, "nan\n" },
		/* A subnormal in the spelling of a normal number. */
		{ { 0, 0 },
		  UINT64_C(1) << 63,
		  "3.3621031431120935063e-4932\n" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned char v[32], swapped[32];
		char want[80];
		const char *got;

		memset(v, 0xa5, sizeof(v)); /* as is the padding */
		memcpy(v, &rows[i].mantissa, 8);
		memcpy(v + 8, rows[i].top, 2);
		memcpy(v + 16, v, 16);
		got = convert(zr_text, "<f16", SHAPE(0, 0), v, 16);
		cr_expect(!strcmp(got, rows[i].text), "%s: %s", rows[i].text,
			  got);
		for (size_t k = 0; k < 32; k++)
			swapped[k] = v[31 - k];
		got = convert(zr_text, ">f16", SHAPE(0, 0), swapped, 16);
		cr_expect(!strcmp(got, rows[i].text), "%s: %s", rows[i].text,
			  got);
		snprintf(want, sizeof(want), "(%.*s%s%.*sj)\n",
			 (int)strlen(rows[i].text) - 1, rows[i].text,
			 rows[i].text[0] == '-' ? "" : "+",
			 (int)strlen(rows[i].text) - 1, rows[i].text);
		got = convert(zr_text, "<c32", SHAPE(0, 0), v, 32);
		cr_expect(!strcmp(got, want), "%s: %s", want, got);
	}
}
#endif
