/* SPDX-License-Identifier: BSD-2-Clause
 * What a file is, told by its first bytes. */
#include "kind.h"

#include <string.h>

/* Only what no text begins with: Parquet's PAR1 could be a word. */
static const struct {
	const char *magic;
	size_t len;
	struct kind kind;
} kinds[] = {
	{ "\x1f\x8b\x08", 3, { "gzip data", "zcat" } },
	{ "\x28\xb5\x2f\xfd", 4, { "zstd data", "zstdcat" } },
	{ "\xfd"
	  "7zXZ\0",
	  6,
	  { "xz data", "xzcat" } },
	{ "\x04\x22\x4d\x18", 4, { "lz4 data", "lz4cat" } },
	{ "BZh91AY&SY", 10, { "bzip2 data", "bzcat" } },
	{ "BZh9\x17rE8P\x90", 10, { "bzip2 data", "bzcat" } },
	/* Before UTF-16, whose mark the first begins with. */
	{ "\xff\xfe\0\0", 4, { "UTF-32 text", "iconv -f UTF-32 -t UTF-8" } },
	{ "\0\0\xfe\xff", 4, { "UTF-32 text", "iconv -f UTF-32 -t UTF-8" } },
	{ "\xff\xfe", 2, { "UTF-16 text", "iconv -f UTF-16 -t UTF-8" } },
	{ "\xfe\xff", 2, { "UTF-16 text", "iconv -f UTF-16 -t UTF-8" } },
	{ "\x93NUMPY", 6, { "a .npy file", NULL } },
	{ "PK\3\4", 4, { "a zip file, as .npz are", NULL } },
	{ "PK\5\6", 4, { "an empty zip file", NULL } },
	{ "\x89HDF\r\n\x1a\n", 8, { "an HDF5 file", NULL } },
	{ "\x89PNG\r\n\x1a\n", 8, { "a PNG image", NULL } },
	{ "\xff\xd8\xff", 3, { "a JPEG image", NULL } },
};

const struct kind *kind_of(const void *bytes, size_t len)
{
	char start[KIND_BYTES] = { 0 };

	if (len > sizeof(start))
		len = sizeof(start);
	memcpy(start, bytes, len);
	/* bzip2 says its level there. */
	if (!memcmp(start, "BZh", 3) && start[3] >= '1' && start[3] <= '9')
		start[3] = '9';
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (len >= kinds[i].len &&
		    !memcmp(start, kinds[i].magic, kinds[i].len))
			return &kinds[i].kind;
	return NULL;
}
