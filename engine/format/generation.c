/* SPDX-License-Identifier: BSD-2-Clause
 * The forms that versions of loaderx gave to a container. */
#include "generation.h"

#include <string.h>

#include "base/checked.h"
#include "base/le.h"
#include "meta.h"

/* The header of G3 and later. */
#define SHARDED_TAILS 16 /* 8 bytes for each of 255 files */
#define SHARDED_SCHEMA 2056
#define SHARDED_SCHEMA_MAX (ZR_META_TABLE - SHARDED_SCHEMA)
#define SHARDS_MAX 255u

static bool all_zero(const unsigned char *p, size_t len)
{
	while (len--)
		if (*p++)
			return false;
	return true;
}

/* Only a schema of MsgPack begins so; JSON has no such bytes. */
static bool is_msgpack_map(unsigned char first)
{
	return (first >= 0x80 && first <= 0x8f) || first == 0xde ||
	       first == 0xdf;
}

static bool has_key(const unsigned char *json, size_t len, const char *key)
{
	return memmem(json, len, key, strlen(key)) != NULL;
}

static bool is_json_schema(const unsigned char *p, size_t len)
{
	while (len && *p && strchr(" \t\r\n", *p)) {
		p++;
		len--;
	}
	return len && *p == '{' && has_key(p, len, "\"dtype\"") &&
	       (has_key(p, len, "\"ndim\"") ||
		has_key(p, len, "\"item_shape\""));
}

static enum zr_generation sharded_of(const unsigned char *head)
{
	const unsigned char *schema = head + SHARDED_SCHEMA;
	unsigned len = head[8] | (unsigned)head[9] << 8, shards = head[10];
	size_t tails = SHARDED_TAILS + 8 * (size_t)shards;
	char dtype[ZR_SCHEMA_TEXT];

	if (len < 1 || len > SHARDED_SCHEMA_MAX || !shards ||
	    head[11] > ZR_ZSTD_DICT || !all_zero(head + 12, 4) ||
	    !all_zero(head + tails, SHARDED_SCHEMA - tails))
		return ZR_G1;
	if (is_msgpack_map(schema[0])) {
		if (!zr_schema_find(schema, len, "ndim", NULL) ||
		    !zr_schema_find(schema, len, "dtype", dtype))
			return ZR_G1;
		return strchr("<>|=", dtype[0]) ? ZR_G3 : ZR_G4;
	}
	return is_json_schema(schema, len) ? ZR_G5 : ZR_G1;
}

/* The header of G1; only the schema is another. */
static enum zr_generation single_of(const unsigned char *head)
{
	const unsigned char *schema = head + ZR_META_FIXED;
	uint32_t len = zr_le32(head + 16);

	if (len < 1 || len > ZR_SCHEMA_MAX || !all_zero(head + 20, 11) ||
	    head[31] > ZR_ZSTD_DICT ||
	    !zr_schema_find(schema, len, "ndim", NULL) ||
	    !zr_schema_find(schema, len, "dtype", NULL))
		return ZR_G1;
	return ZR_G2;
}

enum zr_generation zr_generation_of(const unsigned char *head, bool sharded)
{
	return sharded ? sharded_of(head) : single_of(head);
}

bool zr_is_g0_record(const unsigned char *p, size_t len, uint32_t logic,
		     uint32_t itemsize)
{
	uint64_t rank, bytes = itemsize, prefix;

	if (len < 8)
		return false;
	rank = zr_le64(p);
	prefix = 8 + 8 * rank;
	if (rank > ZR_RANK_MAX || len < prefix || logic <= prefix)
		return false;
	for (uint64_t i = 0; i < rank; i++)
		if (!zr_mul(bytes, zr_le64(p + 8 + 8 * i), &bytes))
			return false;
	return bytes == logic - prefix;
}

const char *zr_generation_writers(enum zr_generation g)
{
	static const char *const writers[] = {
		[ZR_G0] = "2.0.0",	    [ZR_G1] = "2.0.1 to 2.0.7",
		[ZR_G2] = "2.2.1",	    [ZR_G3] = "2.3.3 to 2.8.6",
		[ZR_G4] = "2.8.12",	    [ZR_G5] = "2.8.18 or later",
	};

	return writers[g];
}
