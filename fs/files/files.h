/* SPDX-License-Identifier: BSD-2-Clause
 * The room files: the bytes of each file that is shown, and what is kept of
 * them.
 *
 * Files that are more than one record: their sizes and their bytes. */
#ifndef FILES_H
#define FILES_H

#include "cache.h"
#include "tree/ids.h"
#include "tree/mount.h"

/* A part of a file that a READ wants. It lies inside the file. */
struct span {
	uint64_t off;
	size_t len;
};

/* Copy into dst, which shows the span of a file, what of it is in the piece
 * of `len` bytes that lies at `at` of the file. */
void span_copy(unsigned char *dst, const struct span *span, uint64_t at,
	       const void *piece, uint64_t len);

/* The size of stats.json, which is always the same. */
#define STATS_BYTES ((size_t)1024)

/* What was told to the kernel before it asked. */
struct stats_pushed {
	uint64_t records, bytes;
};

/* Write stats.json, as it is now, into `buf`, which has STATS_BYTES bytes. */
void stats_write(struct mount *m, const struct stats_pushed *pushed, char *buf);

/* Read a span of the file that holds records of a Dense stream as one array.
 * Returns 0 or as image_hold. */
int rows_read(struct mount *m, struct worker *w, struct stream *s,
	      const struct ids *ids, const struct span *span,
	      unsigned char *dst, struct zr_error *err);

/* Hold the text of a record in the cache; give it back with
 * cache_put(m->images, ..). Returns 0, -EFBIG, or as image_hold. */
int text_hold(struct mount *m, struct worker *w, struct stream *s,
	      const struct node *n, struct cache_block **out,
	      struct zr_error *err);

/* Store the size of the text of a record, which costs making it; that of a
 * bad record is made up, so that its READ can tell the error. Returns 0,
 * -EFBIG, -EIO or -ENOMEM. */
int text_size(struct mount *m, struct worker *w, struct stream *s,
	      const struct node *n, uint64_t *size);

/* Check the records of a file, from number *done of them on, which becomes how
 * many are checked. all.npy is not checked. Returns 0 or as image_hold. */
int verify_file(struct mount *m, struct worker *w, struct stream *s,
		const struct node *n, uint64_t *done, struct zr_error *err);

/* Store the size of the .npz `n`, which holds records of a Ragged stream.
 * Returns 0, -EFBIG, -EIO or -ENOMEM. */
int npz_size(struct mount *m, struct worker *w, struct stream *s,
	     const struct node *n, const struct ids *ids, uint64_t *size);

/* Read a span of a .npz. Returns 0 or as image_hold. */
int npz_read(struct mount *m, struct worker *w, struct stream *s,
	     const struct node *n, const struct ids *ids,
	     const struct span *span, unsigned char *dst, struct zr_error *err);

#endif
