/* SPDX-License-Identifier: BSD-2-Clause
 * Property: any text is a selection or -EINVAL or -ERANGE; its ids exist, are
 * as many as it says, and do not depend on how they are asked for; the text
 * twice is every id twice. Input: u64 number of records, text. */
#include "fuzz.h"

#define SOME 300u

static void look(const struct zr_selection *sel, uint64_t records)
{
	uint64_t sum = 0, ids[SOME], one[7];
	size_t n;

	for (size_t i = 0; i < sel->range_count; i++) {
		const struct zr_range *r = &sel->ranges[i];
		uint64_t last;

		must(r->step != 0);
		sum += r->count;
		if (!r->count)
			continue;
		last = r->start + (r->count - 1) * (uint64_t)r->step;
		must(r->start < records && last < records);
		must(r->step > 0 ? last >= r->start : last <= r->start);
	}
	must(sum == sel->count && sum <= INT64_MAX);
	n = zr_selection_ids(sel, 0, SOME, ids);
	must(n == (sum < SOME ? sum : SOME));
	for (size_t i = 0; i < n; i += 7) {
		size_t k = zr_selection_ids(sel, i, 7, one);

		must(k == (sum - i < 7 ? sum - i : 7));
		for (size_t d = 0; d < k && i + d < n; d++)
			must(one[d] == ids[i + d]);
	}
	for (size_t i = 0; i < n; i++)
		must(ids[i] < records);
	must(zr_selection_ids(sel, sum, SOME, ids) == 0);
	must(zr_selection_ids(sel, UINT64_MAX, SOME, ids) == 0);
	if (sum)
		must(zr_selection_ids(sel, sum - 1, SOME, ids) == 1 &&
		     ids[0] < records);
}

static void twice(const char *text, size_t len, uint64_t records,
		  const struct zr_selection *once)
{
	char *both = malloc(2 * len + 1);
	struct zr_selection sel;
	int rc;

	must(both);
	memcpy(both, text, len);
	both[len] = ',';
	memcpy(both + len + 1, text, len);
	rc = zr_selection_parse(&sel, both, 2 * len + 1, records, NULL);
	must(once->count > INT64_MAX / 2 ? rc == -EINVAL : rc == 0);
	must(rc || sel.count == 2 * once->count);
	if (!rc)
		zr_selection_free(&sel);
	free(both);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	uint64_t records = take(&in, 8) & INT64_MAX;
	char *text = copy_of(in.p, in.left);
	struct zr_error err = { 0 };
	struct zr_selection sel;
	int rc;

	rc = zr_selection_parse(&sel, text, in.left, records, &err);
	must(rc == 0 || rc == -EINVAL || rc == -ERANGE);
	must(!rc || (err.code == rc && err.message[0]));
	if (!rc) {
		look(&sel, records);
		twice(text, in.left, records, &sel);
		zr_selection_free(&sel);
	}
	free(text);
	return 0;
}
