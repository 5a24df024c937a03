/* SPDX-License-Identifier: BSD-2-Clause
 * fs/base/name.c: file names of records and batches. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/name.h"

Test(name, has_digits_for_the_last_of_all)
{
	static const struct {
		uint64_t count;
		unsigned width;
	} cases[] = {
		{ 0, 6 },        { 1, 6 },           { 999999, 6 },
		{ 1000000, 6 },  { 1000001, 7 },     { 10000000, 7 },
		{ 10000001, 8 }, { 1ull << 42, 13 }, { UINT64_MAX, 20 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect(name_width(cases[i].count) == cases[i].width,
			  "%llu files", (unsigned long long)cases[i].count);
}

Test(name, is_padded_to_its_width)
{
	static const struct {
		uint64_t index;
		unsigned width;
		const char *suffix, *name;
	} cases[] = {
		{ 0, 6, ".npy", "000000.npy" },
		{ 42, 6, ".npz", "000042.npz" },
		{ 999999, 6, ".npy", "999999.npy" },
		{ 1000000, 6, ".npy", "1000000.npy" },
		{ 256, 1, "", "256" },
		{ 0, 1, "", "0" },
		{ UINT64_MAX, 6, ".npy", "18446744073709551615.npy" },
		{ 7, 99, "", "00000000000000000007" },
	};
	char buf[NAME_ROOM];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t len = name_format(buf, cases[i].index, cases[i].width,
					 cases[i].suffix);

		cr_expect_str_eq(buf, cases[i].name);
		cr_expect(len == strlen(buf), "%s", buf);
	}
}

Test(name, is_taken_with_any_padding)
{
	static const char *const names[] = { "42.npy", "042.npy", "0042.npy",
					     "000042.npy",
					     "00000000000000000000000042.npy" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t index = 0;

		cr_expect(name_parse(names[i], ".npy", &index), "%s", names[i]);
		cr_expect(index == 42, "%s", names[i]);
	}
}

Test(name, is_refused_if_it_is_not_digits_and_suffix)
{
	static const char *const names[] = {
		"",
		".npy",
		"+1.npy",
		"-1.npy",
		" 1.npy",
		"1 .npy",
		"0x1.npy",
		"1",
		"1.",
		"1.np",
		"1.npyx",
		"1.npy.npy",
		"1.NPY",
		"1.npz",
		"1e3.npy",
		"1,000.npy",
		"a1.npy",
		"1a.npy",
		"1.0.npy",
		"\xd9\xa1.npy",
		"18446744073709551616.npy",
		"99999999999999999999999.npy",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t index = 7;

		cr_expect(!name_parse(names[i], ".npy", &index), "%s",
			  names[i]);
		cr_expect(index == 7, "%s", names[i]);
	}
}

Test(name, reads_back_what_it_writes)
{
	char buf[NAME_ROOM];

	for (uint64_t v = 1; v; v *= 2) {
		for (unsigned d = 0; d < 3; d++) {
			uint64_t want = v + d - 1, got;

			name_format(buf, want, 6, ".npy");
			cr_expect(name_parse(buf, ".npy", &got));
			cr_expect(got == want, "%s", buf);
		}
	}
}

Test(name, of_a_directory_is_a_number_as_usually_written)
{
	static const char *const bad[] = { "",
					   "01",
					   "00",
					   "+1",
					   "-0",
					   "1 ",
					   " 1",
					   "0x1",
					   "1.",
					   "a",
					   "18446744073709551616" };
	uint64_t v = 0;

	cr_expect(name_parse_number("256", &v) && v == 256);
	cr_expect(name_parse_number("0", &v) && v == 0);
	cr_expect(name_parse_number("18446744073709551615", &v) &&
		  v == UINT64_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(!name_parse_number(bad[i], &v), "'%s'", bad[i]);
}
