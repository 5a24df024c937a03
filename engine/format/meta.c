/* SPDX-License-Identifier: BSD-2-Clause
 * The header and schema of meta.zr (FORMAT.md F3), bytes to struct and back. */
#include "meta.h"

#include <errno.h>
#include <msgpack.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/le.h"

int zr_dense_width(const struct zr_dtype *dtype, const struct zr_shape *shape,
		   uint64_t *width)
{
	if (shape->rank >= ZR_RANK_MAX)
		return -EINVAL;
	if (zr_shape_size(dtype, shape, NULL, width))
		return -EINVAL;
	return *width >= 1 && *width <= ZR_RECORD_MAX ? 0 : -EINVAL;
}

/* Big-endian length of `n` bytes, as MsgPack has them. */
static uint64_t be_length(const unsigned char *p, unsigned n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | *p++;
	return v;
}

/* What follows the tag of one MsgPack object: `skip` bytes of its own and
 * `items` objects. Returns false if the bytes of a length are missing. */
static bool msgpack_claims(const unsigned char *p, uint64_t left,
			   uint64_t *skip, uint64_t *items)
{
	/* Tags 0xc0..0xdf: bytes of a length field after the tag, bytes of
	 * fixed contents after that. */
	static const unsigned char length_bytes[32] = {
		0, 0, 0, 0, 1, 2, 4, 1, 2, 4, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 2, 4, 2, 4,
	};
	static const unsigned char fixed_bytes[32] = {
		0, 0, 0, 0, 0, 0, 0, 1, 1,  1, 4, 8, 1, 2, 4, 8,
		1, 2, 4, 8, 2, 3, 5, 9, 17, 0, 0, 0, 0, 0, 0, 0,
	};
	unsigned tag = p[0], n;
	uint64_t length;

	*skip = *items = 0;
	if (tag <= 0x7f || tag >= 0xe0)
		return true;
	if (tag <= 0x9f) {
		*items = tag & 15u;
		if (tag <= 0x8f)
			*items *= 2;
		return true;
	}
	if (tag <= 0xbf) {
		*skip = tag & 31u;
		return true;
	}
	n = length_bytes[tag - 0xc0];
	if (left - 1 < n)
		return false;
	length = be_length(p + 1, n);
	*skip = n + fixed_bytes[tag - 0xc0];
	if (tag == 0xdc || tag == 0xdd)
		*items = length;
	else if (tag == 0xde || tag == 0xdf)
		*items = 2 * length;
	else
		*skip += length;
	return true;
}

/* msgpack-c allocates for as many items as a map or array says it has. Make
 * sure beforehand that the bytes are there, and that one object fills all. */
static bool msgpack_fits(const unsigned char *p, uint64_t left)
{
	uint64_t pending = 1, skip, items;

	while (pending) {
		if (!left || !msgpack_claims(p, left, &skip, &items))
			return false;
		left--;
		p++;
		if (skip > left || items > left)
			return false;
		left -= skip;
		p += skip;
		pending = pending - 1 + items;
		if (pending > left)
			return false;
	}
	return left == 0;
}

static bool key_is(const msgpack_object *key, const char *name)
{
	return key->type == MSGPACK_OBJECT_STR &&
	       key->via.str.size == strlen(name) &&
	       !memcmp(key->via.str.ptr, name, key->via.str.size);
}

static const char *shape_decode(struct zr_shape *shape,
				const msgpack_object *value)
{
	const msgpack_object_array *a = &value->via.array;

	if (value->type != MSGPACK_OBJECT_ARRAY)
		return "item_shape is not an array";
	if (a->size >= ZR_RANK_MAX)
		return "item_shape has 64 or more dimensions";
	shape->rank = a->size;
	for (uint32_t i = 0; i < a->size; i++) {
		if (a->ptr[i].type != MSGPACK_OBJECT_POSITIVE_INTEGER)
			return "an item_shape dimension is not a non-negative "
			       "integer";
		shape->dims[i] = a->ptr[i].via.u64;
	}
	return NULL;
}

/* Returns what is wrong, or NULL. */
static const char *map_decode(struct zr_meta *m, const msgpack_object *map)
{
	bool have_dtype = false, have_shape = false;
	const char *wrong;

	if (map->type != MSGPACK_OBJECT_MAP)
		return "the schema is not a map";
	for (uint32_t i = 0; i < map->via.map.size; i++) {
		const msgpack_object_kv *kv = &map->via.map.ptr[i];

		if (key_is(&kv->key, "dtype") && !have_dtype) {
			have_dtype = true;
			if (kv->val.type != MSGPACK_OBJECT_STR)
				return "dtype is not a string";
			if (zr_dtype_parse(&m->dtype, kv->val.via.str.ptr,
					   kv->val.via.str.size))
				return "dtype is not a storable NumPy dtype";
		} else if (key_is(&kv->key, "item_shape") && !have_shape) {
			have_shape = true;
			wrong = shape_decode(&m->item_shape, &kv->val);
			if (wrong)
				return wrong;
		} else {
			return "the schema has a key that is unknown or "
			       "repeated";
		}
	}
	if (!have_dtype)
		return "the schema has no dtype";
	m->kind = have_shape ? ZR_DENSE : ZR_RAGGED;
	if (have_shape &&
	    zr_dense_width(&m->dtype, &m->item_shape, &m->record_bytes))
		return "a record of its shape is not of 1 to 2^31 bytes";
	return NULL;
}

/* Returns 0; -ENOMEM; or -EUCLEAN with *wrong set. */
static int schema_decode(struct zr_meta *m, const unsigned char *p, size_t len,
			 const char **wrong)
{
	msgpack_unpacked result;
	msgpack_unpack_return rc;
	size_t off = 0;

	*wrong = "the schema is not one MsgPack object";
	if (!msgpack_fits(p, len))
		return -EUCLEAN;
	msgpack_unpacked_init(&result);
	rc = msgpack_unpack_next(&result, (const char *)p, len, &off);
	if (rc == MSGPACK_UNPACK_SUCCESS && off == len)
		*wrong = map_decode(m, &result.data);
	msgpack_unpacked_destroy(&result);
	if (rc == MSGPACK_UNPACK_NOMEM_ERROR)
		return -ENOMEM;
	return *wrong ? -EUCLEAN : 0;
}

static bool map_find(const msgpack_object *map, const char *key,
		     char text[ZR_SCHEMA_TEXT])
{
	if (map->type != MSGPACK_OBJECT_MAP)
		return false;
	for (uint32_t i = 0; i < map->via.map.size; i++) {
		const msgpack_object_kv *kv = &map->via.map.ptr[i];

		if (!key_is(&kv->key, key))
			continue;
		if (!text)
			return true;
		if (kv->val.type != MSGPACK_OBJECT_STR ||
		    kv->val.via.str.size >= ZR_SCHEMA_TEXT)
			return false;
		memcpy(text, kv->val.via.str.ptr, kv->val.via.str.size);
		text[kv->val.via.str.size] = '\0';
		return true;
	}
	return false;
}

bool zr_schema_find(const unsigned char *p, size_t len, const char *key,
		    char text[ZR_SCHEMA_TEXT])
{
	msgpack_unpacked result;
	size_t off = 0;
	bool found;

	if (!msgpack_fits(p, len))
		return false;
	msgpack_unpacked_init(&result);
	found = msgpack_unpack_next(&result, (const char *)p, len, &off) ==
			MSGPACK_UNPACK_SUCCESS &&
		map_find(&result.data, key, text);
	msgpack_unpacked_destroy(&result);
	return found;
}

int zr_meta_decode(struct zr_meta *out, const unsigned char *head,
		   const char *path, struct zr_error *err)
{
	uint32_t schema_length = zr_le32(head + 16);
	const char *wrong;
	int rc;

	memset(out, 0, sizeof(*out));
	out->length = zr_le64(head);
	out->tail_offset = zr_le64(head + 8);
	if (schema_length < 1 || schema_length > ZR_SCHEMA_MAX)
		return zr_fail_at(err, -EUCLEAN, path,
				  (struct zr_facts){ ZR_NONE, 16, ZR_SCHEMA_MAX,
						     schema_length },
				  "meta.zr is damaged: bytes of its schema: "
				  "expected 1 to %d, found %u",
				  ZR_SCHEMA_MAX, schema_length);
	for (unsigned i = 20; i < 31; i++)
		if (head[i])
			return zr_fail_at(
				err, -EUCLEAN, path,
				(struct zr_facts){ ZR_NONE, i, 0, head[i] },
				"meta.zr is damaged: byte %u: expected 0, "
				"found %u",
				i, head[i]);
	if (head[31] > ZR_ZSTD_DICT)
		return zr_fail_at(err, -EUCLEAN, path,
				  (struct zr_facts){ ZR_NONE, 31, ZR_ZSTD_DICT,
						     head[31] },
				  "meta.zr is damaged: codec: expected 0 "
				  "(raw), 1 (zstd) or 2 (zstd_dict), found %u",
				  head[31]);
	out->codec = (enum zr_codec)head[31];
	rc = schema_decode(out, head + ZR_META_FIXED, schema_length, &wrong);
	if (rc == -ENOMEM)
		return zr_fail(err, rc, path, "no memory");
	if (rc)
		return zr_fail_at(err, -EUCLEAN, path,
				  (struct zr_facts){ ZR_NONE, ZR_META_FIXED,
						     ZR_NONE, ZR_NONE },
				  "meta.zr is damaged: %s", wrong);
	return 0;
}

static void pack_text(msgpack_packer *pk, const char *text)
{
	size_t len = strlen(text);

	msgpack_pack_str(pk, len);
	msgpack_pack_str_body(pk, text, len);
}

int zr_meta_encode(const struct zr_meta *meta, unsigned char *head)
{
	bool dense = meta->kind == ZR_DENSE;
	msgpack_sbuffer buf;
	msgpack_packer pk;
	int rc = -ENOMEM;

	msgpack_sbuffer_init(&buf);
	msgpack_packer_init(&pk, &buf, msgpack_sbuffer_write);
	msgpack_pack_map(&pk, dense ? 2 : 1);
	pack_text(&pk, "dtype");
	pack_text(&pk, meta->dtype.str);
	if (dense) {
		pack_text(&pk, "item_shape");
		msgpack_pack_array(&pk, meta->item_shape.rank);
		for (uint32_t i = 0; i < meta->item_shape.rank; i++)
			msgpack_pack_uint64(&pk, meta->item_shape.dims[i]);
	}
	/* sbuffer drops what it has no memory for: unpack to be sure. */
	if (msgpack_fits((const unsigned char *)buf.data, buf.size) &&
	    buf.size <= ZR_SCHEMA_MAX) {
		memset(head, 0, ZR_META_TABLE);
		zr_put_le64(head, meta->length);
		zr_put_le64(head + 8, meta->tail_offset);
		zr_put_le32(head + 16, (uint32_t)buf.size);
		head[31] = (unsigned char)meta->codec;
		memcpy(head + ZR_META_FIXED, buf.data, buf.size);
		rc = 0;
	}
	msgpack_sbuffer_destroy(&buf);
	return rc;
}
