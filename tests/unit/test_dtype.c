/* SPDX-License-Identifier: BSD-2-Clause
 * Which dtypes are taken, how they are spelled then, and sizes of arrays. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "zrecord.h"

#define BIG ((uint64_t)INT64_MAX)
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

Test(dtype, accepts_and_spells_as_numpy)
{
	static const struct {
		const char *text, *str;
		uint32_t itemsize;
	} rows[] = {
		{ "|b1", "|b1", 1 },
		{ "<b1", "|b1", 1 },
		{ ">b1", "|b1", 1 },
		{ "|i1", "|i1", 1 },
		{ ">i1", "|i1", 1 },
		{ "<u1", "|u1", 1 },
		{ "<i2", "<i2", 2 },
		{ ">i4", ">i4", 4 },
		{ "<i8", "<i8", 8 },
		{ ">u2", ">u2", 2 },
		{ "<u4", "<u4", 4 },
		{ ">u8", ">u8", 8 },
		{ "<f2", "<f2", 2 },
		{ ">f4", ">f4", 4 },
		{ "<f8", "<f8", 8 },
		{ "<f16", "<f16", 16 },
		{ "<c8", "<c8", 8 },
		{ ">c16", ">c16", 16 },
		{ ">c32", ">c32", 32 },
		{ "|S1", "|S1", 1 },
		{ "<S5", "|S5", 5 },
		{ "|S2147483647", "|S2147483647", 2147483647 },
		{ "<U1", "<U1", 4 },
		{ ">U3", ">U3", 12 },
		{ "<U536870911", "<U536870911", 2147483644 },
		{ "|V1", "|V1", 1 },
		{ "<V2", "|V2", 2 },
		{ ">V300", "|V300", 300 },
		{ "<M8", "<M8", 8 },
		{ ">m8", ">m8", 8 },
		{ "<M8[Y]", "<M8[Y]", 8 },
		{ "<M8[M]", "<M8[M]", 8 },
		{ "<M8[W]", "<M8[W]", 8 },
		{ "<M8[D]", "<M8[D]", 8 },
		{ "<M8[h]", "<M8[h]", 8 },
		{ "<M8[m]", "<M8[m]", 8 },
		{ "<M8[s]", "<M8[s]", 8 },
		{ "<M8[ms]", "<M8[ms]", 8 },
		{ ">m8[us]", ">m8[us]", 8 },
		{ "<M8[ns]", "<M8[ns]", 8 },
		{ "<M8[ps]", "<M8[ps]", 8 },
		{ "<M8[fs]", "<M8[fs]", 8 },
		{ "<M8[as]", "<M8[as]", 8 },
		{ "<m8[25s]", "<m8[25s]", 8 },
		{ "<M8[2147483647as]", "<M8[2147483647as]", 8 },
		{ "<M8[1s]", "<M8[s]", 8 },
		{ "<M8[generic]", "<M8", 8 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *text = rows[i].text;
		struct zr_dtype d;
		int rc = zr_dtype_parse(&d, text, strlen(text));

		cr_expect(rc == 0, "%s: %d", text, rc);
		if (rc)
			continue;
		cr_expect(!strcmp(d.str, rows[i].str), "%s: %s", text, d.str);
		cr_expect(d.order == d.str[0] && d.kind == d.str[1], "%s",
			  text);
		cr_expect(d.itemsize == rows[i].itemsize, "%s: %u", text,
			  d.itemsize);
		/* The canonical text is its own, also in place. */
		cr_expect(zr_dtype_parse(&d, d.str, strlen(d.str)) == 0 &&
				  !strcmp(d.str, rows[i].str),
			  "%s", text);
	}
}

Test(dtype, rejects_what_is_none)
{
	static const char *const rows[] = {
		"",
		"<",
		"<f",
		"<f4 ",
		" <f4",
		"f4",
		"=f4",
		"?",
		"|?",
		"<?",
		"i",
		"b1",
		"u1",
		"S5",
		"V3",
		"U3",
		"|f4",
		"|i2",
		"|U3",
		"|M8",
		"|m8[s]",
		"=M8",
		"float32",
		"<d",
		"<l",
		"|a5",
		"<t1",
		"<f1",
		"<f12",
		"<f3",
		"<f0",
		"<f04",
		"<f+4",
		"<f-4",
		"<f 4",
		"<f32",
		"<f6",
		"<i16",
		"<i0",
		"<u3",
		"<b2",
		"<b0",
		"<c4",
		"<c64",
		"<c24",
		"|S",
		"|V",
		"<U",
		"|S05",
		"|S00",
		"|S+5",
		"|S5 ",
		"|S2147483648",
		"|S4294967297",
		"|S18446744073709551617",
		"|S99999999999999999999999",
		"<U536870912",
		"<U4294967297",
		"|V2147483648",
		"<M",
		"<M4",
		"<M08",
		"<M8[",
		"<M8[]",
		"<M8]",
		"<M8s",
		"<M8[s",
		"<M8[s]x",
		"<M8[s]]",
		"<M8[[s]",
		"<M8[ s]",
		"<M8[s ]",
		"<M8[25 s]",
		"<M8[y]",
		"<M8[B]",
		"<M8[sm]",
		"<M8[min]",
		"<M8[nss]",
		"<M8[0s]",
		"<M8[00s]",
		"<M8[01s]",
		"<M8[025s]",
		"<M8[+2s]",
		"<M8[-2s]",
		"<M8[25]",
		"<M8[2147483648s]",
		"<M8[99999999999999999999s]",
		"<M8[25generic]",
		"<M8[Generic]",
		"<M8[s/10]",
		"<M8[2s/2]",
		"<i4[s]",
		"<m16",
		"<f4\n",
		"<f4x",
		"<g2",
		"object",
		"|Ox",
		"|O16",
		"(2)i4",
		"2i4",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct zr_dtype d = { .str = "kept" };
		int rc = zr_dtype_parse(&d, rows[i], strlen(rows[i]));

		cr_expect(rc == -EINVAL, "'%s': %d", rows[i], rc);
		cr_expect(!strcmp(d.str, "kept"), "'%s'", rows[i]);
	}
}

Test(dtype, rejects_a_nul)
{
	struct zr_dtype d;

	cr_expect(zr_dtype_parse(&d, "<f4\0", 4) == -EINVAL);
	cr_expect(zr_dtype_parse(&d, "<f\0", 3) == -EINVAL);
	cr_expect(zr_dtype_parse(&d, "\0f4", 3) == -EINVAL);
	cr_expect(zr_dtype_parse(&d, "<M8[s\0]", 7) == -EINVAL);
	cr_expect(zr_dtype_parse(&d, "<M8[\0s]", 7) == -EINVAL);
	cr_expect(zr_dtype_parse(&d, "<f4garbage", 3) == 0);
}

Test(dtype, tells_what_cannot_be_stored)
{
	static const char *const rows[] = {
		"|O",  "O",     "|O8",    "O8",   "<O",  "=O",
		"|S0", "<U0",   ">U0",    "|V0",  "<S0", "[('a', '<i4')]",
		"[",   "i4,f4", "(2,)i4", "<f4,",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct zr_dtype d = { .str = "kept" };
		int rc = zr_dtype_parse(&d, rows[i], strlen(rows[i]));

		cr_expect(rc == -ENOTSUP, "'%s': %d", rows[i], rc);
		cr_expect(!strcmp(d.str, "kept"), "'%s'", rows[i]);
	}
}

Test(dtype, sizes_shapes)
{
	static const struct {
		uint32_t itemsize, rank;
		uint64_t dims[4];
		int rc;
		uint64_t items, bytes;
	} rows[] = {
		{ 4, 0, { 0 }, 0, 1, 4 },
		{ 4, 1, { 5 }, 0, 5, 20 },
		{ 4, 2, { 2, 3 }, 0, 6, 24 },
		{ 4, 1, { 0 }, 0, 0, 0 },
		{ 1, 1, { BIG }, 0, BIG, BIG },
		{ 1, 1, { BIG + 1 }, -EINVAL, 0, 0 },
		{ 2, 1, { BIG }, -EINVAL, 0, 0 },
		{ 2, 1, { BIG / 2 }, 0, BIG / 2, BIG - 1 },
		{ 1,
		  2,
		  { UINT64_C(1) << 32, UINT64_C(1) << 31 },
		  -EINVAL,
		  0,
		  0 },
		{ 1,
		  2,
		  { UINT64_C(1) << 32, UINT64_C(1) << 30 },
		  0,
		  UINT64_C(1) << 62,
		  UINT64_C(1) << 62 },
		{ 8,
		  2,
		  { UINT64_C(1) << 32, UINT64_C(1) << 32 },
		  -EINVAL,
		  0,
		  0 },
		{ 8, 1, { UINT64_C(1) << 61 }, -EINVAL, 0, 0 },
		{ 1, 4, { BIG, BIG, BIG, BIG }, -EINVAL, 0, 0 },
		/* A product of 0, wherever the 0 stands. */
		{ 8, 3, { BIG, BIG, 0 }, 0, 0, 0 },
		{ 8, 3, { 0, BIG, BIG }, 0, 0, 0 },
		{ 8, 3, { BIG, 0, BIG }, 0, 0, 0 },
		{ 8, 2, { UINT64_MAX, 0 }, 0, 0, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct zr_dtype d = { .itemsize = rows[i].itemsize };
		struct zr_shape s = { .rank = rows[i].rank };
		uint64_t items = 77, bytes = 77;
		int rc;

		memcpy(s.dims, rows[i].dims, sizeof(rows[i].dims));
		rc = zr_shape_size(&d, &s, &items, &bytes);
		cr_expect(rc == rows[i].rc, "row %zu: %d", i, rc);
		cr_expect(items == (rc ? 77 : rows[i].items), "row %zu", i);
		cr_expect(bytes == (rc ? 77 : rows[i].bytes), "row %zu", i);
		cr_expect(zr_shape_size(&d, &s, NULL, NULL) == rc);
	}
}

Test(dtype, limits_rank)
{
	struct zr_dtype d = { .itemsize = 1 };
	struct zr_shape s = { .rank = ZR_RANK_MAX };
	uint64_t items;

	for (int i = 0; i < ZR_RANK_MAX; i++)
		s.dims[i] = 1;
	cr_expect(zr_shape_size(&d, &s, &items, NULL) == 0 && items == 1);
	s.rank++;
	cr_expect(zr_shape_size(&d, &s, &items, NULL) == -EINVAL);
	s.rank = UINT32_MAX;
	cr_expect(zr_shape_size(&d, &s, &items, NULL) == -EINVAL);
}
