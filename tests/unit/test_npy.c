/* SPDX-License-Identifier: BSD-2-Clause
 * Headers of .npy files: written as numpy.save does, read more strictly. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "make.h"
#include "zrecord.h"

#define BIG INT64_MAX
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* The lengths are those of NumPy's own files. */
Test(npy, writes_what_numpy_writes)
{
	static const struct {
		const char *descr;
		uint32_t rank;
		uint64_t dims[3];
		size_t total;
		const char *text;
	} rows[] = {
		{ "<f4",
		  2,
		  { 2, 3 },
		  128,
		  "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), "
		  "}" },
		{ "<f8",
		  0,
		  { 0 },
		  128,
		  "{'descr': '<f8', 'fortran_order': False, 'shape': (), }" },
		{ "<f4",
		  1,
		  { 0 },
		  128,
		  "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }" },
		{ "<f4",
		  3,
		  { 3, 0, 2 },
		  128,
		  "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 0, "
		  "2), }" },
		{ "<u1",
		  1,
		  { 7 },
		  128,
		  "{'descr': '|u1', 'fortran_order': False, 'shape': (7,), }" },
		{ "<M8[25s]",
		  1,
		  { BIG },
		  128,
		  "{'descr': '<M8[25s]', 'fortran_order': False, 'shape': "
		  "(9223372036854775807,), }" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct zr_dtype d = make_dtype(rows[i].descr);
		struct zr_shape s = { .rank = rows[i].rank };
		char want[256], got[ZR_NPY_HEADER_MAX];
		size_t len, n = strlen(rows[i].text);

		memcpy(s.dims, rows[i].dims, sizeof(rows[i].dims));
		memset(want, ' ', sizeof(want));
		memcpy(want, "\x93NUMPY\x01\x00\x76\x00", 10);
		memcpy(want + 10, rows[i].text, n);
		want[rows[i].total - 1] = '\n';
		cr_expect(zr_npy_header(got, sizeof(got), &len, &d, &s) == 0);
		cr_expect(len == rows[i].total && !memcmp(got, want, len), "%s",
			  rows[i].text);
	}
}

Test(npy, pads_as_numpy_pads)
{
	static const struct {
		const char *descr;
		uint64_t dim;
		uint32_t rank;
		size_t total;
	} rows[] = {
		{ "<f4", 1, 14, 128 },
		{ "<f4", 1, 15, 192 },
		{ "<f4", 224, 9, 128 },
		{ "<f4", 224, 10, 192 },
		{ "<f4", 1000, 7, 128 },
		{ "<f4", 1000, 8, 192 },
		{ "<f4", 65535, 6, 128 },
		{ "<f4", 65535, 7, 192 },
		{ "<f4", 1000000, 5, 128 },
		{ "<f4", 1000000, 6, 192 },
		{ "<f4", 1000000000, 4, 128 },
		{ "<f4", 1000000000, 5, 192 },
		/* Full without padding: a whole step is added. */
		{ "<c16", 100, 9, 192 },
		{ "<f4", UINT64_C(1) << 40, 8, 256 },
		{ "<f4", BIG, 6, 256 },
		{ "<f4", BIG, 64, 1472 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct zr_dtype d = make_dtype(rows[i].descr);
		struct zr_shape s = { .rank = rows[i].rank };
		unsigned char got[ZR_NPY_HEADER_MAX];
		size_t len = 0, claimed = 0;

		for (uint32_t k = 0; k < s.rank; k++)
			s.dims[k] = rows[i].dim;
		cr_expect(zr_npy_header(got, sizeof(got), &len, &d, &s) == 0);
		cr_expect(len == rows[i].total, "row %zu: %zu", i, len);
		cr_expect(zr_npy_header_bytes(got, &claimed) == 0 &&
			  claimed == len);
		cr_expect(got[len - 1] == '\n' && got[len - 2] == ' ');
	}
}

Test(npy, keeps_to_the_room)
{
	struct zr_dtype d = make_dtype("<f4");
	struct zr_shape s = { .rank = 2, .dims = { 2, 3 } };
	size_t len = 0;
	char *buf = malloc(128);

	cr_expect(zr_npy_header(buf, 128, &len, &d, &s) == 0 && len == 128);
	cr_expect(zr_npy_header(buf, 127, &len, &d, &s) == -ERANGE &&
		  len == 128);
	cr_expect(zr_npy_header(NULL, 0, &len, &d, &s) == -ERANGE);
	s.rank = 65;
	cr_expect(zr_npy_header(buf, 128, &len, &d, &s) == -EINVAL);
	free(buf);
}

/* A file of `version` with `text` as its header, in exactly its bytes, so
 * that a sanitizer sees a read past it. */
static unsigned char *file_of(int version, const char *text, size_t n,
			      size_t *len)
{
	size_t prefix = version == 1 ? 10 : 12;
	unsigned char *p = calloc(1, prefix + n);

	memcpy(p, "\x93NUMPY", 6);
	p[6] = (unsigned char)version;
	p[8] = (unsigned char)n;
	p[9] = (unsigned char)(n >> 8);
	if (version > 1)
		p[10] = (unsigned char)(n >> 16);
	memcpy(p + prefix, text, n);
	*len = prefix + n;
	return p;
}

static int parse(int version, const char *text, struct zr_npy *out,
		 struct zr_error *err)
{
	size_t len;
	unsigned char *p = file_of(version, text, strlen(text), &len);
	int rc = zr_npy_parse(p, len, out, err);

	free(p);
	return rc;
}

#define REST "'fortran_order': False, 'shape': (2, 3)"
#define HEAD "'descr': '<f4', 'fortran_order': False, "

Test(npy, reads_what_python_reads)
{
	static const char *const rows[] = {
		"{'descr': '<f4', " REST ", }   \n",
		"{'descr': '<f4', " REST "}",
		"{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
		"{'fortran_order': False, 'descr': '<f4', 'shape': (2, 3)}\n",
		"{\"descr\": \"<f4\", " REST "}",
		"{'descr':'<f4','fortran_order':False,'shape':(2,3)}",
		"{'descr':'<f4','fortran_order':False,'shape':(2,3,),}",
		" { 'descr' : '<f4' , 'fortran_order' : False , 'shape' : "
		"( 2 , 3 , ) , } ",
		"\n{\t'descr'\r\n:\f'<f4',\n" REST "\n}\n\n",
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		for (int version = 1; version <= 3; version++) {
			struct zr_npy npy;
			struct zr_error err = { 0 };
			int rc = parse(version, rows[i], &npy, &err);

			cr_expect(rc == 0, "%s: %s", rows[i], err.message);
			if (rc)
				continue;
			cr_expect(!strcmp(npy.dtype.str, "<f4"));
			cr_expect(npy.shape.rank == 2 &&
				  npy.shape.dims[0] == 2 &&
				  npy.shape.dims[1] == 3);
			cr_expect(!npy.fortran_order && npy.data_bytes == 24);
			cr_expect(npy.header_bytes ==
				  strlen(rows[i]) + (version == 1 ? 10 : 12));
		}
}

Test(npy, reads_dtypes_orders_and_shapes)
{
	struct zr_npy npy;

	cr_assert(parse(1,
			"{'descr': '<u1', 'fortran_order': True, 'shape': "
			"()}",
			&npy, NULL) == 0);
	cr_expect(!strcmp(npy.dtype.str, "|u1") && npy.fortran_order &&
		  npy.shape.rank == 0 && npy.data_bytes == 1);
	cr_assert(parse(1,
			"{'descr': '|S5', 'fortran_order': False, 'shape': "
			"(0,)}",
			&npy, NULL) == 0);
	cr_expect(npy.shape.rank == 1 && npy.data_bytes == 0);
	cr_assert(parse(1,
			"{'descr': '|V1', 'fortran_order': False, 'shape': "
			"(9223372036854775807,)}",
			&npy, NULL) == 0);
	cr_expect(npy.data_bytes == BIG);
	cr_assert(parse(1,
			"{" HEAD "'shape': (9223372036854775807, "
			"9223372036854775807, 0)}",
			&npy, NULL) == 0);
	cr_expect(npy.data_bytes == 0);
}

Test(npy, rejects_malformed_text)
{
	static const struct {
		const char *text;
		const char *says;
	} rows[] = {
		{ "  ", "does not begin with '{': the end" },
		{ "{ ", "a key is not a string: the end" },
		{ "{}", "the key descr is missing" },
		{ "[]", "does not begin" },
		{ "None", "does not begin with '{': None" },
		{ "{'descr': '<f4', " REST ", 'x': 1}", "belong there: 'x'" },
		{ "{'descr': '<f4', " REST ", '': 1}", "belong there: ''" },
		{ "{'descr': '<f4', " REST ", 'shape': ()}",
		  "the key shape is there twice" },
		{ "{'descr': '<f4', 'shape': ()}", "fortran_order is missing" },
		{ "{'descr': '<f4', 'fortran_order': False}",
		  "shape is missing" },
		{ "{" REST "}", "descr is missing" },
		{ "{descr: '<f4', " REST "}", "a key is not a string: descr" },
		{ "{u'descr': '<f4', " REST "}", "a key is not a string" },
		{ "{'descr' '<f4', " REST "}", "no ':' after the key descr" },
		{ "{'descr': '<f4' " REST "}", "a comma or '}' is missing" },
		{ "{'descr': '<f4',, " REST "}", "a key is not a string: ," },
		{ "{,'descr': '<f4', " REST "}", "a key is not a string: ," },
		{ "{'descr: '<f4', " REST "}", "belong there" },
		{ "{'descr': '<f4\"}", "descr is not a string: '<f4" },
		{ "{'desc\\x72': '<f4', " REST "}", "a key is not a string" },
		{ "{'descr': '<f4', " REST "} x", "after the end" },
		{ "{'descr': '<f4', " REST "}}", "after the end" },
		{ "{'descr': '<f4', " REST "} # hm", "after the end" },
		{ "{'descr': '<f4', " REST, "a comma or '}' is missing" },
		{ "{'descr': 4, " REST "}", "descr is not a string: 4" },
		{ "{'descr': None, " REST "}", "descr is not a string: None" },
		{ "{'descr': '', " REST "}", "descr '' is not a dtype" },
		{ "{'descr': 'f4', " REST "}", "descr 'f4' is not a dtype" },
		{ "{'descr': '<f1', " REST "}", "descr '<f1' is not a dtype" },
		{ "{'descr': 'bfloat16', " REST "}", "'bfloat16' is not" },
		{ "{'descr': '<f4\n', " REST "}", "descr is not a string" },
		{ "{'descr': '<f4\xe9', " REST "}", "descr '<f4?'" },
		{ "{" HEAD "'shape': [2, 3]}", "not a tuple: [2" },
		{ "{" HEAD "'shape': 3}", "not a tuple: 3" },
		{ "{" HEAD "'shape': (3)}", "its comma is missing" },
		{ "{" HEAD "'shape': (184)}", "its comma is missing" },
		{ "{" HEAD "'shape': (,)}", "not a number" },
		{ "{" HEAD "'shape': (2,,3)}", "not a number" },
		{ "{" HEAD "'shape': (2 3)}", "is missing before: 3" },
		{ "{" HEAD "'shape': (-1,)}", "0..2^63-1: -1" },
		{ "{" HEAD "'shape': (+1,)}", "0..2^63-1: +1" },
		{ "{" HEAD "'shape': (3L,)}", "is missing before: L" },
		{ "{" HEAD "'shape': (1_0,)}", "is missing before: _0" },
		{ "{" HEAD "'shape': (1.0,)}", "is missing before: .0" },
		{ "{" HEAD "'shape': (0x10,)}", "is missing before: x10" },
		{ "{" HEAD "'shape': (True,)}", "0..2^63-1: True" },
		{ "{" HEAD "'shape': (None,)}", "0..2^63-1: None" },
		{ "{" HEAD "'shape': (np.int64(1),)}", "np.int64" },
		{ "{" HEAD "'shape': ('2',)}", "0..2^63-1: '2'" },
		{ "{" HEAD "'shape': (007,)}", "a leading zero: 007" },
		{ "{" HEAD "'shape': (2,621)}", "" },
		{ "{" HEAD "'shape': ((2, 3))}", "not a number" },
		{ "{" HEAD "'shape': (9223372036854775808,)}",
		  "0..2^63-1: 9223372036854775808" },
		{ "{" HEAD "'shape': (18446744073709551617,)}", "0..2^63-1" },
		{ "{" HEAD "'shape': (99999999999999999999999999999999999999"
		  "9999999999999,)}",
		  "99999..." },
		{ "{" HEAD "'shape': (4294967296, 4294967296)}",
		  "more than 2^63-1 bytes" },
		{ "{" HEAD "'shape': (9223372036854775807,)}",
		  "more than 2^63-1 bytes" },
		{ "{'descr': '<f4', 'shape': (), 'fortran_order': false}",
		  "neither True nor False: false" },
		{ "{'descr': '<f4', 'shape': (), 'fortran_order': 0}",
		  "neither True nor False: 0" },
		{ "{'descr': '<f4', 'shape': (), 'fortran_order': Truex}",
		  "is missing before: x" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct zr_npy npy = { .header_bytes = 77 };
		struct zr_error err = { 0 };
		int rc = parse(1, rows[i].text, &npy, &err);
		const char *says = rows[i].says;

		/* Locale grouping reads as two dimensions: not to be told. */
		if (!*says) {
			cr_expect(rc == 0 && npy.shape.rank == 2);
			continue;
		}
		cr_expect(rc == -EUCLEAN && err.code == rc, "%s: %d",
			  rows[i].text, rc);
		cr_expect(strstr(err.message, says) != NULL, "%s: %s",
			  rows[i].text, err.message);
		cr_expect(!strchr(err.message, '\n') && err.message[0]);
		cr_expect(npy.header_bytes == 77, "%s", rows[i].text);
		cr_expect(parse(1, rows[i].text, &npy, NULL) == rc);
	}
}

Test(npy, tells_what_cannot_be_stored)
{
	static const struct {
		const char *descr, *says;
	} rows[] = {
		{ "'|O'", "Python objects" },
		{ "'O'", "Python objects" },
		{ "[('a', '<i4'), ('b', '<f8', (2,))]", "structured" },
		{ "[]", "structured" },
		{ "('<i4', (2,))", "structured" },
		{ "'i4,f4'", "structured" },
		{ "'|S0'", "has no bytes" },
		{ "'<U0'", "has no bytes" },
		{ "'|V0'", "has no bytes" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct zr_npy npy;
		struct zr_error err = { 0 };
		char text[256];
		int rc;

		snprintf(text, sizeof(text), "{'descr': %s, " REST "}",
			 rows[i].descr);
		rc = parse(1, text, &npy, &err);
		cr_expect(rc == -ENOTSUP, "%s: %d", rows[i].descr, rc);
		cr_expect(strstr(err.message, rows[i].says) != NULL, "%s: %s",
			  rows[i].descr, err.message);
	}
}

Test(npy, limits_rank)
{
	char text[512];
	struct zr_npy npy;
	struct zr_error err;
	size_t n = (size_t)sprintf(text, "{" HEAD "'shape': (");

	for (int i = 0; i < 64; i++)
		n += (size_t)sprintf(text + n, "1,");
	strcpy(text + n, ")}");
	cr_expect(parse(1, text, &npy, &err) == 0 && npy.shape.rank == 64);
	strcpy(text + n, "1)}");
	cr_expect(parse(1, text, &npy, &err) == -EUCLEAN);
	cr_expect(strstr(err.message, "more than 64 dimensions") != NULL);
}

#define V(major, minor, rest) "\x93NUMPY" major minor rest

Test(npy, tells_the_length_of_a_header)
{
	static const struct {
		const char *start; /* 12 bytes */
		int rc;
		size_t bytes;
	} rows[] = {
		{ V("\1", "\0", "\x76\0{'"), 0, 128 },
		{ V("\1", "\0", "\xf8\xff{'"), 0, 65538 },
		{ V("\1", "\0", "\0\0{'"), 0, 10 },
		{ V("\2", "\0", "\x74\0\0\0"), 0, 128 },
		{ V("\3", "\0", "\x74\0\0\0"), 0, 128 },
		{ V("\2", "\0", "\0\0\x10\0"), 0, 12 + (1 << 20) },
		{ V("\2", "\0", "\1\0\x10\0"), -ENOTSUP, 0 },
		{ V("\2", "\0", "\xf0\xff\xff\xff"), -ENOTSUP, 0 },
		{ V("\3", "\0", "\xff\xff\xff\xff"), -ENOTSUP, 0 },
		{ V("\0", "\0", "\x76\0{'"), -ENOTSUP, 0 },
		{ V("\4", "\0", "\x76\0{'"), -ENOTSUP, 0 },
		{ V("\1", "\1", "\x76\0{'"), -ENOTSUP, 0 },
		{ V("\xff", "\0", "\x76\0{'"), -ENOTSUP, 0 },
		{ "\x92NUMPY\1\0\x76\0{'", -EUCLEAN, 0 },
		{ "\x93numpy\1\0\x76\0{'", -EUCLEAN, 0 },
		{ "PK\3\4........", -EUCLEAN, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned char *copy = malloc(12);
		size_t bytes = 77;
		struct zr_npy npy;
		struct zr_error err = { 0 };
		int rc;

		memcpy(copy, rows[i].start, 12);
		rc = zr_npy_header_bytes(copy, &bytes);
		cr_expect(rc == rows[i].rc, "row %zu: %d", i, rc);
		cr_expect(bytes == (rc ? 77 : rows[i].bytes), "row %zu", i);
		/* And no more than 12 bytes of it are there. */
		rc = zr_npy_parse(copy, 12, &npy, &err);
		cr_expect(rc == (rows[i].rc ? rows[i].rc : -EUCLEAN),
			  "row %zu: %d", i, rc);
		cr_expect(err.message[0], "row %zu", i);
		free(copy);
	}
}

Test(npy, rejects_every_cut)
{
	struct zr_dtype d = make_dtype("<f4");
	struct zr_shape s = { .rank = 2, .dims = { 2, 3 } };
	unsigned char header[128];
	struct zr_npy npy;
	struct zr_error err;
	size_t len;

	cr_assert(zr_npy_header(header, sizeof(header), &len, &d, &s) == 0);
	for (size_t n = 0; n < len; n++) {
		unsigned char *cut = malloc(n ? n : 1);

		memcpy(cut, header, n);
		cr_expect(zr_npy_parse(cut, n, &npy, &err) == -EUCLEAN, "%zu",
			  n);
		free(cut);
	}
	for (size_t n = 0; n < 69; n++) {
		size_t size;
		unsigned char *cut = file_of(1, (char *)header + 10, n, &size);
		int rc = zr_npy_parse(cut, size, &npy, &err);

		cr_expect(rc == (n < 59 ? -EUCLEAN : 0), "%zu", n);
		free(cut);
	}
}

Test(npy, survives_any_byte_anywhere)
{
	static const char text[] = "{'descr': '<M8[25s]', " REST ", }  \n";
	struct zr_npy npy;
	struct zr_error err;

	for (size_t at = 0; at < sizeof(text) - 1; at++)
		for (int byte = 0; byte < 256; byte++) {
			size_t len;
			unsigned char *p =
				file_of(1, text, sizeof(text) - 1, &len);
			int rc;

			p[10 + at] = (unsigned char)byte;
			rc = zr_npy_parse(p, len, &npy, &err);
			cr_expect(rc == 0 || rc == -EUCLEAN || rc == -ENOTSUP);
			for (const char *m = rc ? err.message : ""; *m; m++)
				cr_expect(*m >= ' ' && *m <= '~');
			free(p);
		}
}
