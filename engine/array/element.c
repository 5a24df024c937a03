/* SPDX-License-Identifier: BSD-2-Clause
 * One element of an array to text, by its dtype. */
#include "element.h"

#include <byteswap.h>
#include <endian.h>
#include <string.h>

#include "escape.h"
#include "float.h"

static uint64_t load(const unsigned char *p, size_t size, bool swap)
{
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch (size) {
	case 1:
		return *p;
	case 2:
		memcpy(&v16, p, sizeof(v16));
		return swap ? bswap_16(v16) : v16;
	case 4:
		memcpy(&v32, p, sizeof(v32));
		return swap ? bswap_32(v32) : v32;
	default:
		memcpy(&v64, p, sizeof(v64));
		return swap ? bswap_64(v64) : v64;
	}
}

static int64_t load_signed(const unsigned char *p, size_t size, bool swap)
{
	uint64_t v = load(p, size, swap);

	switch (size) {
	case 1:
		return (int8_t)v;
	case 2:
		return (int16_t)v;
	case 4:
		return (int32_t)v;
	default:
		return (int64_t)v;
	}
}

/* The bytes of a float in the order of this machine. */
static void load_float(const unsigned char *p, size_t size, bool swap,
		       unsigned char out[static 16])
{
	for (size_t i = 0; i < size; i++)
		out[i] = p[swap ? size - 1 - i : i];
}

static void write_bool(struct zr_out *o, const struct zr_element *e,
		       const unsigned char *p)
{
	if (e->json)
		zr_out_text(o, *p ? "true" : "false");
	else
		zr_out_char(o, *p ? '1' : '0');
}

static void write_unsigned(struct zr_out *o, const struct zr_element *e,
			   const unsigned char *p)
{
	zr_out_u64(o, load(p, e->size, e->swap));
}

static void write_signed(struct zr_out *o, const struct zr_element *e,
			 const unsigned char *p)
{
	zr_out_i64(o, load_signed(p, e->size, e->swap));
}

static void quote(struct zr_out *o, const struct zr_element *e)
{
	if (e->json)
		zr_out_char(o, '"');
}

static void write_hex(struct zr_out *o, const struct zr_element *e,
		      const unsigned char *p)
{
	quote(o, e);
	for (size_t i = 0; i < e->size; i++) {
		zr_out_char(o, "0123456789abcdef"[p[i] >> 4]);
		zr_out_char(o, "0123456789abcdef"[p[i] & 15]);
	}
	quote(o, e);
}

static void write_float(struct zr_out *o, const struct zr_element *e,
			const unsigned char *p)
{
	unsigned char v[16];
	bool bare;

	load_float(p, e->size, e->swap, v);
	bare = !e->json || zr_float_finite(v, e->size);
	if (!bare)
		quote(o, e);
	zr_out_float(o, v, e->size, false);
	if (!bare)
		quote(o, e);
}

/* "(1.0-2.0j)": numpy.loadtxt and complex() read it. */
static void write_complex(struct zr_out *o, const struct zr_element *e,
			  const unsigned char *p)
{
	size_t half = e->size / 2;
	unsigned char v[16];

	quote(o, e);
	zr_out_char(o, '(');
	load_float(p, half, e->swap, v);
	zr_out_float(o, v, half, false);
	load_float(p + half, half, e->swap, v);
	zr_out_float(o, v, half, true);
	zr_out_text(o, "j)");
	quote(o, e);
}

static void write_date(struct zr_out *o, const struct zr_element *e,
		       const unsigned char *p)
{
	int64_t v = load_signed(p, 8, e->swap);

	quote(o, e);
	if (v == ZR_NAT)
		zr_out_text(o, "NaT");
	else
		zr_out_date(o, e->time, v);
	quote(o, e);
}

static void write_span(struct zr_out *o, const struct zr_element *e,
		       const unsigned char *p)
{
	int64_t v = load_signed(p, 8, e->swap);

	if (v == ZR_NAT)
		zr_out_text(o, e->json ? "\"NaT\"" : "NaT");
	else
		zr_out_i64(o, v);
}

static void write_bytes(struct zr_out *o, const struct zr_element *e,
			const unsigned char *p)
{
	quote(o, e);
	zr_out_bytes(o, p, e->size, e->json);
	quote(o, e);
}

static void write_ucs4(struct zr_out *o, const struct zr_element *e,
		       const unsigned char *p)
{
	quote(o, e);
	zr_out_ucs4(o, p, e->size, e->swap, e->json);
	quote(o, e);
}

void zr_element_init(struct zr_element *e, const struct zr_dtype *dtype,
		     bool json)
{
	static const struct {
		char kind;
		void (*write)(struct zr_out *o, const struct zr_element *e,
			      const unsigned char *p);
	} writers[] = {
		{ 'b', write_bool },     { 'i', write_signed },
		{ 'u', write_unsigned }, { 'f', write_float },
		{ 'c', write_complex },  { 'M', write_date },
		{ 'm', write_span },     { 'S', write_bytes },
		{ 'U', write_ucs4 },
	};
	size_t real =
		dtype->kind == 'c' ? dtype->itemsize / 2 : dtype->itemsize;

	memset(e, 0, sizeof(*e));
	e->size = dtype->itemsize;
	e->json = json;
	e->swap = dtype->order == (__BYTE_ORDER == __LITTLE_ENDIAN ? '>' : '<');
	e->time = zr_time_of(dtype);
	e->write = write_hex;
	/* Not every machine has a long double of 16 bytes. */
	if ((dtype->kind == 'f' || dtype->kind == 'c') && real == 16 &&
	    sizeof(long double) != 16)
		return;
	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
		if (writers[i].kind == dtype->kind)
			e->write = writers[i].write;
}
