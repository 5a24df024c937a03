/* SPDX-License-Identifier: BSD-2-Clause
 * Selections against what Python's slice.indices says. */
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "zrecord.h"

#define BIG ((uint64_t)INT64_MAX)

static int parse(struct zr_selection *s, const char *text, uint64_t records,
		 struct zr_error *err)
{
	return zr_selection_parse(s, text, strlen(text), records, err);
}

Test(selection, lists_the_ids_of_items)
{
	static const struct {
		const char *text;
		uint64_t records;
		size_t count;
		uint64_t ids[12];
	} rows[] = {
		{ "5", 10, 1, { 5 } },
		{ "0,5,2", 10, 3, { 0, 5, 2 } },
		{ "5,5", 10, 2, { 5, 5 } },
		{ " 1 ,\t2 ", 10, 2, { 1, 2 } },
		{ "007", 10, 1, { 7 } },
		{ "2:5", 10, 3, { 2, 3, 4 } },
		{ " 2 : 5 : 2 ", 10, 2, { 2, 4 } },
		{ ":", 3, 3, { 0, 1, 2 } },
		{ "::", 3, 3, { 0, 1, 2 } },
		{ "::1", 3, 3, { 0, 1, 2 } },
		{ ":2", 3, 2, { 0, 1 } },
		{ "1:", 3, 2, { 1, 2 } },
		{ "1::", 3, 2, { 1, 2 } },
		{ "::-1", 3, 3, { 2, 1, 0 } },
		{ "::-2", 4, 2, { 3, 1 } },
		{ "1::-1", 4, 2, { 1, 0 } },
		{ ":1:-1", 4, 2, { 3, 2 } },
		{ "3:0:-2", 4, 2, { 3, 1 } },
		{ "99:0:-1", 4, 3, { 3, 2, 1 } },
		{ "0:99", 2, 2, { 0, 1 } },
		{ "0:99999999999999999999999", 2, 2, { 0, 1 } },
		{ "99999999999999999999999:0:-1", 3, 2, { 2, 1 } },
		{ "99999999999999999999999:", 3, 0, { 0 } },
		{ "0::99999999999999999999999", 3, 1, { 0 } },
		{ "::-99999999999999999999999", 3, 1, { 2 } },
		{ "2:2", 3, 0, { 0 } },
		{ "2:1", 3, 0, { 0 } },
		{ "1:2:-1", 3, 0, { 0 } },
		{ "9:5:-1", 3, 0, { 0 } },
		{ ":", 0, 0, { 0 } },
		{ "::-1", 0, 0, { 0 } },
		{ "4::-1", 0, 0, { 0 } },
		{ ":3:-1", 0, 0, { 0 } },
		{ "1:3,0,::-1", 3, 6, { 1, 2, 0, 2, 1, 0 } },
		{ "2:2,1", 3, 1, { 1 } },
	};
	uint64_t ids[16];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct zr_selection s;
		struct zr_error err = { 0 };
		int rc = parse(&s, rows[i].text, rows[i].records, &err);

		cr_expect(rc == 0, "%s: %s", rows[i].text, err.message);
		cr_expect(s.count == rows[i].count, "%s: %" PRIu64,
			  rows[i].text, s.count);
		cr_expect(zr_selection_ids(&s, 0, 16, ids) == rows[i].count &&
				  !memcmp(ids, rows[i].ids,
					  rows[i].count * sizeof(*ids)),
			  "%s of %" PRIu64, rows[i].text, rows[i].records);
		for (size_t k = 0; k < s.range_count; k++)
			cr_expect(s.ranges[k].count > 0, "%s", rows[i].text);
		zr_selection_free(&s);
	}
}

Test(selection, rejects_what_is_not_one)
{
	static const struct {
		const char *text;
		int rc;
		const char *says;
	} rows[] = {
		{ "", -EINVAL, "the selection is empty" },
		{ "  \t", -EINVAL, "the selection is empty" },
		{ ",", -EINVAL, "empty item" },
		{ "1,", -EINVAL, "empty item" },
		{ ",1", -EINVAL, "empty item" },
		{ "1,,2", -EINVAL, "empty item" },
		{ "1, ,2", -EINVAL, "empty item" },
		{ "-1", -EINVAL, "negative indices are not supported" },
		{ "-0", -EINVAL, "negative indices are not supported" },
		{ "-2:", -EINVAL, "negative indices are not supported" },
		{ ":-2", -EINVAL, "negative indices are not supported" },
		{ "::-1,-1", -EINVAL, "negative indices are not supported" },
		{ "0:5:0", -EINVAL, "the step is 0" },
		{ "0:5:-0", -EINVAL, "the step is 0" },
		{ "1:2:3:4", -EINVAL, "two colons" },
		{ ":::", -EINVAL, "two colons" },
		{ "a", -EINVAL, "'a'" },
		{ "1 2", -EINVAL, "neither an id nor a slice" },
		{ "+1", -EINVAL, "neither" },
		{ "1.0", -EINVAL, "neither" },
		{ "0x1", -EINVAL, "neither" },
		{ "1_0", -EINVAL, "neither" },
		{ "1\n", -EINVAL, "'1?'" },
		{ "--1", -EINVAL, "neither" },
		{ "- 1", -EINVAL, "neither" },
		{ "-", -EINVAL, "neither" },
		{ "1:x", -EINVAL, "not a slice" },
		{ "1:2:-", -EINVAL, "not a slice" },
		{ "10", -ERANGE, "record 10: there are 10 records" },
		{ "0:3,12", -ERANGE, "record 12: there are 10 records" },
		{ "9223372036854775808", -ERANGE,
		  "record 9223372036854775808: there are 10 records" },
		{ "18446744073709551616", -ERANGE,
		  "record 18446744073709551616: there are 10 records" },
		{ "99999999999999999999999999999999999999999999999", -ERANGE,
		  "...: there are 10 records" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct zr_selection s;
		struct zr_error err = { 0 };
		int rc = parse(&s, rows[i].text, 10, &err);

		cr_expect(rc == rows[i].rc && err.code == rc, "'%s': %d",
			  rows[i].text, rc);
		cr_expect(strstr(err.message, rows[i].says) != NULL, "'%s': %s",
			  rows[i].text, err.message);
		cr_expect(!s.ranges && !s.count, "'%s'", rows[i].text);
		cr_expect(parse(&s, rows[i].text, 10, NULL) == rc);
	}
}

Test(selection, tells_the_id_that_is_not_there)
{
	struct zr_selection s;
	struct zr_error err = { 0 };

	cr_expect(parse(&s, "3,42", 10, &err) == -ERANGE);
	cr_expect(err.record == 42 && err.found == 42 && err.expected == 10);
}

Test(selection, rejects_a_byte_that_ends_text)
{
	struct zr_selection s;

	cr_expect(zr_selection_parse(&s, "1\0002", 3, 10, NULL) == -EINVAL);
	cr_expect(zr_selection_parse(&s, "\xff", 1, 10, NULL) == -EINVAL);
}

Test(selection, counts_without_overflow)
{
	struct zr_selection s;
	struct zr_error err;
	uint64_t id[2];

	cr_assert(parse(&s, "::-1", BIG, &err) == 0);
	cr_expect(s.count == BIG);
	cr_expect(zr_selection_ids(&s, BIG - 1, 2, id) == 1 && id[0] == 0);
	zr_selection_free(&s);
	cr_assert(parse(&s, "::9223372036854775807", BIG, &err) == 0);
	cr_expect(s.count == 1);
	zr_selection_free(&s);
	cr_assert(parse(&s, "0::9223372036854775806", BIG, &err) == 0);
	cr_expect(zr_selection_ids(&s, 0, 2, id) == 2 && id[1] == BIG - 1);
	zr_selection_free(&s);
	cr_assert(parse(&s, "::-9223372036854775806", BIG, &err) == 0);
	cr_expect(zr_selection_ids(&s, 0, 2, id) == 2 && id[1] == 0);
	zr_selection_free(&s);
	cr_expect(parse(&s, ":,0", BIG, &err) == -EINVAL);
	cr_expect(parse(&s, ":,:,:", BIG, &err) == -EINVAL);
	cr_expect(parse(&s, ":", BIG + 1, &err) == -EINVAL);
}

Test(selection, lists_from_anywhere)
{
	static const uint64_t all[] = { 1, 2, 9, 8, 7, 6, 3 };
	struct zr_selection s;
	struct zr_error err;
	uint64_t ids[8];

	cr_assert(parse(&s, "1:3,9:5:-1,3", 10, &err) == 0);
	for (uint64_t first = 0; first < 9; first++)
		for (size_t count = 0; count < 8; count++) {
			size_t left = first < 7 ? 7 - (size_t)first : 0;
			size_t n = zr_selection_ids(&s, first, count, ids);

			cr_expect(n == (count < left ? count : left));
			cr_expect(!memcmp(ids, all + (n ? first : 0),
					  n * sizeof(*ids)));
		}
	zr_selection_free(&s);
	zr_selection_free(&s);
}

/* Python's rules in their own words: bounds as in slice.indices, then walk. */
Test(selection, agrees_with_walking)
{
	for (int64_t n = 0; n < 6; n++)
		for (int64_t start = 0; start < 8; start++)
			for (int64_t stop = 0; stop < 8; stop++)
				for (int64_t step = -4; step < 5; step++) {
					int64_t top = step < 0 ? n - 1 : n;
					int64_t i = start < top ? start : top;
					int64_t end = stop < top ? stop : top;
					struct zr_selection s;
					uint64_t ids[8];
					char text[64];
					size_t k = 0, got;

					if (!step)
						continue;
					snprintf(text, sizeof(text), "%d:%d:%d",
						 (int)start, (int)stop,
						 (int)step);
					cr_assert(parse(&s, text, (uint64_t)n,
							NULL) == 0);
					got = zr_selection_ids(&s, 0, 8, ids);
					for (; step < 0 ? i > end : i < end;
					     i += step, k++)
						cr_assert(
							k < got &&
								ids[k] ==
									(uint64_t)
										i,
							"%s", text);
					cr_assert(k == got, "%s", text);
					zr_selection_free(&s);
				}
}
