/* SPDX-License-Identifier: BSD-2-Clause
 * fs/files/zip.c: the parts of a zip fit together, also beyond 4 GiB. Whether other
 * programs read them is tested through the mount. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "files/zip.h"

static struct zip make(uint64_t count, uint64_t member)
{
	struct zip z = { .count = count };

	z.start = malloc((count + 1) * sizeof(*z.start));
	cr_assert(z.start);
	z.start[0] = 0;
	for (uint64_t i = 0; i < count; i++)
		z.start[i + 1] = z.start[i] + zip_header_len(i) + member;
	zip_finish(&z);
	return z;
}

static uint64_t get(const unsigned char *p, int bytes)
{
	uint64_t v = 0;

	while (bytes-- > 0)
		v = v << 8 | p[bytes];
	return v;
}

Test(zip, has_parts_as_long_as_it_says)
{
	static const uint64_t members[] = { 1, 148, 3000000000u };
	static const uint64_t counts[] = { 1,   9,     10,    11,   100,
					   101, 65534, 65535, 65536 };
	unsigned char buf[ZIP_HEADER_MAX];

	for (size_t m = 0; m < 3; m++) {
		for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]);
		     c++) {
			struct zip z = make(counts[c], members[m]);
			uint64_t at = z.start[z.count];

			for (uint64_t i = 0; i < z.count; i++) {
				cr_assert(zip_header(&z, i, 1, buf) ==
					  zip_header_len(i));
				cr_assert(zip_entry_at(&z, i) == at);
				at += zip_entry(&z, i, 1, buf);
			}
			cr_expect(zip_entry_at(&z, z.count) == at);
			cr_expect(zip_size(&z) == at + zip_end(&z, buf));
			free(z.start);
		}
	}
}

Test(zip, locates_far_members_with_64_bits)
{
	struct zip z = make(4, 3000000000u);
	unsigned char buf[ZIP_HEADER_MAX];

	cr_expect(z.far == 2);
	zip_entry(&z, 1, 0xabcdef01, buf);
	cr_expect(get(buf + 16, 4) == 0xabcdef01);
	cr_expect(get(buf + 20, 4) == 3000000000u);
	cr_expect(get(buf + 42, 4) == z.start[1]);
	zip_entry(&z, 2, 0, buf);
	cr_expect(get(buf + 42, 4) == 0xffffffff);
	/* name "arr_2.npy", then the extra field */
	cr_expect(get(buf + 46 + 9, 2) == 1);
	cr_expect(get(buf + 46 + 9 + 4, 8) == z.start[2]);
	free(z.start);
}

Test(zip, uses_zip64_no_sooner_than_it_must)
{
	unsigned char buf[ZIP_HEADER_MAX];
	struct zip z = make(65534, 1);

	cr_expect(zip_end(&z, buf) == 22);
	free(z.start);
	z = make(65535, 1);
	cr_expect(zip_end(&z, buf) == 56 + 20 + 22);
	cr_expect(get(buf + 32, 8) == 65535);
	free(z.start);
}

Test(zip, finds_what_is_at_an_offset)
{
	struct zip z = make(1000, 50);

	for (uint64_t i = 0; i < z.count; i++) {
		cr_assert(zip_find_member(&z, z.start[i]) == i);
		cr_assert(zip_find_member(&z, z.start[i + 1] - 1) == i);
		cr_assert(zip_find_entry(&z, zip_entry_at(&z, i)) == i);
		cr_assert(zip_find_entry(&z, zip_entry_at(&z, i + 1) - 1) == i);
	}
	cr_expect(zip_find_entry(&z, 0) == 0);
	cr_expect(zip_find_entry(&z, zip_size(&z) - 1) == z.count);
	free(z.start);
}
