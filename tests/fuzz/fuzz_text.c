/* SPDX-License-Identifier: BSD-2-Clause
 * Property: any elements of any dtype and shape make text and JSON. The text
 * of integers and floats has one word for each element, which reads back as
 * that element; the JSON is well-formed, with one value for each. An error of
 * `put` ends both at once. Input: u8 dtype, u8 rank, u8 dimensions, elements;
 * those that are not there are 0. */
#include <ctype.h>

#include "fuzz.h"

#define ROOM ((size_t)1 << 20)

static const char *const dtypes[] = {
	"<f4",     ">f4",     "<f8",  ">f8",      "<f2",    ">f2",
	"|i1",     "|u1",     "<i2",  ">u2",      "<i4",    ">u4",
	"<i8",     ">i8",     "<u8",  "|b1",      "<c8",    ">c16",
	"<M8[ns]", ">M8",     "<m8",  "<M8[25s]", "<M8[Y]", "<M8[M]",
	"<M8[as]", "<m8[us]", "|S5",  "<U3",      ">U2",    "|V6",
	"<f16",    "<c32",    ">f16", "<M8[D]",   "<M8[W]", "|S1",
};

struct out {
	char *text;
	size_t len;
	long calls, fail_at; /* put number `fail_at` fails */
};

static int put(void *ctx, const char *text, size_t len)
{
	struct out *o = ctx;

	/* No call follows one that failed. */
	must(!o->fail_at || o->calls < o->fail_at);
	if (++o->calls == o->fail_at)
		return -77;
	must(len < ROOM - o->len);
	memcpy(o->text + o->len, text, len);
	o->len += len;
	o->text[o->len] = '\0';
	return 0;
}

/* ---- JSON -----------------------------------------------------------------
 */

/* Each takes a value off the front; NULL: it is none. */
static const char *json_string(const char *p)
{
	for (p++; *p && *p != '"'; p++) {
		if ((unsigned char)*p < 0x20)
			return NULL;
		if (*p == '\\' && !strchr("\"\\/bfnrtu", *++p))
			return NULL;
		if (p[-1] == '\\' && *p == 'u')
			for (int i = 0; i < 4; i++)
				if (!isxdigit((unsigned char)*++p))
					return NULL;
	}
	return *p ? p + 1 : NULL;
}

static const char *digits(const char *p)
{
	if (!isdigit((unsigned char)*p))
		return NULL;
	while (isdigit((unsigned char)*p))
		p++;
	return p;
}

static const char *json_number(const char *p)
{
	p += *p == '-';
	if (*p == '0' && isdigit((unsigned char)p[1]))
		return NULL;
	p = digits(p);
	if (p && *p == '.')
		p = digits(p + 1);
	if (p && (*p == 'e' || *p == 'E'))
		p = digits(p + 1 + (p[1] == '+' || p[1] == '-'));
	return p;
}

static const char *json_value(const char *p, uint64_t *leaves, unsigned depth)
{
	if (*p != '[') {
		++*leaves;
		must(!depth);
		if (*p == '"')
			return json_string(p);
		if (!strncmp(p, "true", 4))
			return p + 4;
		if (!strncmp(p, "false", 5))
			return p + 5;
		return json_number(p);
	}
	must(depth);
	do {
		p++;
		while (*p == ' ' || *p == '\n')
			p++;
		if (*p != ']')
			p = json_value(p, leaves, depth - 1);
		while (p && (*p == ' ' || *p == '\n'))
			p++;
	} while (p && *p == ',');
	return p && *p == ']' ? p + 1 : NULL;
}

/* ---- Text -----------------------------------------------------------------
 */

static uint64_t element(const struct zr_dtype *d, const uint8_t *p)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < d->itemsize; i++)
		v |= (uint64_t)p[d->order == '>' ? d->itemsize - 1 - i : i]
		     << (8 * i);
	return v;
}

/* Whether the word at `p` reads as the element with these bits. */
static int reads_back(const struct zr_dtype *d, const char *p, char **end,
		      uint64_t bits)
{
	uint64_t mask =
		d->itemsize == 8 ? UINT64_MAX : (1ull << (8 * d->itemsize)) - 1;
	uint32_t low = (uint32_t)bits;
	double f8;
	float f4;

	if (d->kind == 'u')
		return strtoull(p, end, 10) == bits;
	if (d->kind == 'i')
		return ((uint64_t)strtoll(p, end, 10) & mask) == bits;
	if (d->itemsize == 4) {
		float back = strtof(p, end);

		memcpy(&f4, &low, 4);
		return f4 != f4 ? back != back : !memcmp(&back, &f4, 4);
	}
	f8 = strtod(p, end);
	if (f8 != f8)
		return (bits & INT64_MAX) > 0x7ffull << 52;
	return !memcmp(&f8, &bits, 8);
}

static void check_words(const struct zr_dtype *d, const char *text,
			const uint8_t *p, uint64_t items)
{
	if (!strchr("iuf", d->kind) || d->itemsize > 8 ||
	    (d->kind == 'f' && d->itemsize == 2))
		return;
	for (uint64_t i = 0; i < items; i++) {
		char *end;

		must(reads_back(d, text, &end,
				element(d, p + i * d->itemsize)));
		must(end != text && (!*end || isspace((unsigned char)*end)));
		text = end;
	}
	while (isspace((unsigned char)*text))
		text++;
	must(!*text);
}

typedef int text_fn(const struct zr_dtype *, const struct zr_shape *,
		    const void *, zr_put_fn, void *);

static void run(text_fn *fn, const struct zr_dtype *d,
		const struct zr_shape *shape, const uint8_t *p, struct out *o)
{
	struct out broken = { o->text, 0, 0, 0 };

	for (broken.fail_at = 1; broken.fail_at < 4; broken.fail_at++) {
		int rc;

		broken.calls = 0;
		broken.len = 0;
		rc = fn(d, shape, p, put, &broken);
		must(rc == (broken.calls < broken.fail_at ? 0 : -77));
	}
	o->text[0] = '\0';
	o->len = 0;
	o->calls = o->fail_at = 0;
	must(fn(d, shape, p, put, o) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char room[ROOM];
	struct out o = { room, 0, 0, 0 };
	struct input in = { data, size };
	struct zr_shape shape = { 0 };
	uint64_t items, bytes, leaves = 0;
	struct zr_dtype d;
	const char *name, *end;
	uint8_t *p;

	name = dtypes[take(&in, 1) % (sizeof(dtypes) / sizeof(dtypes[0]))];
	must(zr_dtype_parse(&d, name, strlen(name)) == 0);
	shape.rank = (uint32_t)take(&in, 1) % 5;
	for (uint32_t i = 0; i < shape.rank; i++)
		shape.dims[i] = take(&in, 1) % 7;
	must(zr_shape_size(&d, &shape, &items, &bytes) == 0);
	must((p = calloc(1, bytes ? (size_t)bytes : 1)));
	if (in.left)
		memcpy(p, in.p, bytes < in.left ? (size_t)bytes : in.left);
	run(zr_text, &d, &shape, p, &o);
	check_words(&d, room, p, items);
	run(zr_json, &d, &shape, p, &o);
	end = json_value(room, &leaves, shape.rank);
	must(end && !*end && leaves == items);
	must(strlen(room) == o.len);
	free(p);
	return 0;
}
