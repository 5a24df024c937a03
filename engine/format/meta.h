/* SPDX-License-Identifier: BSD-2-Clause
 * The header and schema of meta.zr (FORMAT.md F3), bytes to struct and back. */
#ifndef ZR_META_H
#define ZR_META_H

#include "zrecord.h"

#define ZR_META_TABLE 4096 /* offset of the table */
#define ZR_META_FIXED 32   /* bytes before the schema */
#define ZR_SCHEMA_MAX (ZR_META_TABLE - ZR_META_FIXED)
#define ZR_ENTRY_BYTES 16
#define ZR_DICT_MAX ((uint64_t)1 << 31) /* libzstd addresses no more */

struct zr_meta {
	uint64_t length;      /* records */
	uint64_t tail_offset; /* committed bytes of data.zr */
	enum zr_codec codec;
	enum zr_kind kind;
	struct zr_dtype dtype;
	struct zr_shape item_shape;
	uint64_t record_bytes;
};

/* Decode the first 4096 bytes of meta.zr; `path` is for the message. Numbers
 * are not yet compared with the sizes of the files. */
int zr_meta_decode(struct zr_meta *out, const unsigned char *head,
		   const char *path, struct zr_error *err);

#define ZR_SCHEMA_TEXT 32 /* room for a dtype that can be stored */

/* Whether the `len` bytes at `p` are one MsgPack map that has `key`, and if
 * `text` is not NULL, with a string that fits there: it is stored as one. For
 * schemas of other versions. */
bool zr_schema_find(const unsigned char *p, size_t len, const char *key,
		    char text[ZR_SCHEMA_TEXT]);

/* Encode into 4096 bytes, with the bytes that loaderx writes. */
int zr_meta_encode(const struct zr_meta *meta, unsigned char *head);

/* Bytes of a Dense record, or -EINVAL if it cannot be stored: rank over 63,
 * width 0 or over 2^31. */
int zr_dense_width(const struct zr_dtype *dtype, const struct zr_shape *shape,
		   uint64_t *width);

#endif
