/* SPDX-License-Identifier: BSD-2-Clause
 * The file of one record, whole: header and elements. */
#ifndef IMAGE_H
#define IMAGE_H

#include "cache.h"
#include "tree/mount.h"

struct image {
	const unsigned char *data;
	size_t len;
};

/* Return how large a buffer image_load needs for record `id`. */
uint64_t image_room(const struct stream *s, uint64_t id);

/* Read record `id` and make its file inside `buf`, which has image_room
 * bytes; the file begins somewhere behind the start of `buf`. Returns 0 or an
 * error of zr_read. */
int image_load(struct worker *w, const struct stream *s, uint64_t id,
	       unsigned char *buf, struct image *out, struct zr_error *err);

/* Hold the file of record `id` in the cache; give it back with
 * cache_put(m->images, ..). Returns 0, -ENOMEM, an error of zr_read, or -EAGAIN
 * unless the worker waits: see cache_get. */
int image_hold(struct mount *m, struct worker *w, const struct stream *s,
	       const struct node *record, struct cache_block **out,
	       struct zr_error *err);

/* Store the size of the file of record `id`. A record that is bad has a size
 * too, so that it can be listed and its READ can tell the error. Returns 0,
 * or -EIO or -ENOMEM, which may pass. */
int image_size(struct worker *w, const struct stream *s, uint64_t id,
	       uint64_t *size);

#endif
