/* SPDX-License-Identifier: BSD-2-Clause
 * A container, opened, and the facts about its files that cost no reading. */
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "base/say.h"
#include "tree.h"

#define JSON_ROOM 4096

/* Raw records up to here are compared as a whole with their hashes for each
 * part that is read, which costs less than keeping a copy does. */
#define CHECKED_PART_MAX ((uint64_t)256 << 10)

static int make_json(struct stream *s)
{
	size_t room = JSON_ROOM;
	int rc;

	do {
		free(s->json);
		s->json = malloc(room);
		if (!s->json)
			return -ENOMEM;
		rc = zr_info_json(s->container, s->json, room, &s->json_len);
		room = s->json_len + 1;
	} while (rc == -ERANGE);
	return rc;
}

bool stream_in_parts(const struct stream *s, uint64_t id)
{
	return s->info->codec == ZR_RAW &&
	       (!s->info->checksums ||
		zr_record_bound(s->container, id) <= CHECKED_PART_MAX);
}

static int describe(struct stream *s)
{
	const struct zr_info *info = s->info;
	uint64_t bytes;
	int rc = make_json(s);

	s->dense = info->kind == ZR_DENSE;
	s->width = name_width(info->records);
	if (rc || !s->dense)
		return rc;
	rc = zr_npy_header(s->header, sizeof(s->header), &s->header_len,
			   &info->dtype, &info->item_shape);
	if (rc)
		return rc;
	/* A file cannot be longer than off_t tells. */
	if (!__builtin_mul_overflow(info->records, info->record_bytes,
				    &bytes) &&
	    bytes <= INT64_MAX - ZR_NPY_HEADER_MAX) {
		unsigned char header[ZR_NPY_HEADER_MAX];

		s->all_bytes =
			bytes + stream_rows_header(s, info->records, header);
	}
	return 0;
}

int stream_open(struct stream *s, const char *path, bool check)
{
	struct zr_open_options how = ZR_OPEN_OPTIONS_INIT;
	struct zr_error err = { .message = "" };
	int rc;

	*s = (struct stream){ .dense = false };
	how.placement = ZR_PLACE_READ;
	how.flags = check ? ZR_OPEN_CHECK : ZR_OPEN_NO_CHECKSUMS;
	rc = zr_open(&s->container, path, &how, &err);
	if (rc) {
		say("%s%s", err.message[0] ? err.message : zr_strerror(rc),
		    rc == -ENODATA && !strstr(err.message, "zrecord recover")
			    ? ": see zrecord recover"
			    : "");
		return rc;
	}
	s->info = zr_info(s->container);
	if (s->info->records > TREE_RECORDS_MAX)
		rc = -EFBIG;
	else
		rc = describe(s);
	if (rc) {
		say("%s: %s", path, zr_strerror(rc));
		stream_close(s);
	}
	return rc;
}

void stream_close(struct stream *s)
{
	zr_close(s->container);
	free(s->json);
	free(s->name);
	*s = (struct stream){ .dense = false };
}

uint64_t stream_batches(const struct stream *s, uint64_t size)
{
	uint64_t n = s->info->records;

	return n / size + (n % size != 0);
}

uint64_t stream_batch_count(const struct stream *s, uint64_t size,
			    uint64_t index)
{
	uint64_t left = s->info->records - index * size;

	return left < size ? left : size;
}

size_t stream_rows_header(const struct stream *s, uint64_t count,
			  unsigned char *buf)
{
	const struct zr_shape *item = &s->info->item_shape;
	struct zr_shape shape = { .rank = item->rank + 1, .dims = { count } };
	size_t len = 0;

	memcpy(shape.dims + 1, item->dims, item->rank * sizeof(item->dims[0]));
	/* It cannot fail: a Dense item has at most 63 dimensions. */
	(void)zr_npy_header(buf, ZR_NPY_HEADER_MAX, &len, &s->info->dtype,
			    &shape);
	return len;
}
