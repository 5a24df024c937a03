/* SPDX-License-Identifier: BSD-2-Clause
 * The file of one record, whole: header and elements. */
#include "image.h"

#include "worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a record whose shape cannot be told pretends to have: a header. */
#define SIZE_UNKNOWN 128

uint64_t image_room(const struct stream *s, uint64_t id)
{
	return ZR_NPY_HEADER_MAX + zr_record_bound(s->container, id);
}

int image_load(struct worker *w, const struct stream *s, uint64_t id,
	       unsigned char *buf, struct image *out, struct zr_error *err)
{
	unsigned char own[ZR_NPY_HEADER_MAX];
	const unsigned char *header = s->header;
	size_t len = s->header_len;
	struct zr_shape shape;
	uint64_t bytes;
	/* The header's length is known after the shape: it goes in front. */
	unsigned char *elements = buf + ZR_NPY_HEADER_MAX;
	uint64_t room = image_room(s, id) - ZR_NPY_HEADER_MAX;
	int rc = zr_read(w->reader, id, elements, (size_t)room, &bytes, &shape,
			 err);

	if (rc)
		return rc;
	if (!s->dense) {
		rc = zr_npy_header(own, sizeof(own), &len, &s->info->dtype,
				   &shape);
		if (rc)
			return rc;
		header = own;
	}
	memcpy(elements - len, header, len);
	out->data = elements - len;
	out->len = len + (size_t)bytes;
	return 0;
}

struct image_fill {
	struct worker *w;
	const struct stream *s;
	uint64_t id;
	struct zr_error *err;
};

static int fill(void *ctx, struct cache_block *block)
{
	struct image_fill *f = ctx;
	uint64_t size = image_room(f->s, f->id);
	unsigned char *memory = malloc((size_t)size);
	struct image image;
	int rc;

	if (!memory)
		return -ENOMEM;
	rc = image_load(f->w, f->s, f->id, memory, &image, f->err);
	worker_trim(f->w);
	if (rc) {
		free(memory);
		return rc;
	}
	block->memory = memory;
	block->size = (size_t)size;
	block->data = memory + (image.data - memory);
	block->len = image.len;
	return 0;
}

int image_hold(struct mount *m, struct worker *w, const struct stream *s,
	       const struct node *record, struct cache_block **out,
	       struct zr_error *err)
{
	struct image_fill ctx = { w, s, record->index, err };

	return cache_get(m->images, tree_ino(record),
			 image_room(s, record->index), w->wait, fill, &ctx,
			 out);
}

/* The frame of a compressed record may not tell its length: then it is decoded
 * whole. Large ones one at a time, for memory. */
static int record_shape(struct worker *w, const struct stream *s, uint64_t id,
			struct zr_shape *shape, uint64_t *bytes)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	bool large = !s->info->checksums && s->info->codec != ZR_RAW &&
		     zr_record_bound(s->container, id) > WORKER_KEEP;
	int rc;

	if (large)
		pthread_mutex_lock(&lock);
	rc = zr_record_shape(w->reader, id, shape, bytes, NULL);
	if (large) {
		worker_trim(w);
		pthread_mutex_unlock(&lock);
	}
	return rc;
}

int image_size(struct worker *w, const struct stream *s, uint64_t id,
	       uint64_t *size)
{
	unsigned char header[ZR_NPY_HEADER_MAX];
	struct zr_shape shape;
	uint64_t bytes;
	size_t len;
	int rc;

	if (s->dense) {
		*size = s->header_len + s->info->record_bytes;
		return 0;
	}
	rc = record_shape(w, s, id, &shape, &bytes);
	if (rc == -EBADMSG) {
		*size = SIZE_UNKNOWN + zr_record_bound(s->container, id);
		return 0;
	}
	if (!rc)
		rc = zr_npy_header(header, sizeof(header), &len,
				   &s->info->dtype, &shape);
	if (!rc)
		*size = len + bytes;
	return rc;
}
