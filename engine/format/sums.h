/* SPDX-License-Identifier: BSD-2-Clause
 * The integrity sidecar check.zr (FORMAT.md F13): hashes of all that a
 * container is, and the shapes of Ragged records. */
#ifndef ZR_SUMS_H
#define ZR_SUMS_H

#include "base/hash.h"
#include "zrecord.h"

#define ZR_SUMS_NAME "check.zr"
#define ZR_SUMS_HEAD 64

/* Read whole at open; immutable. */
struct zr_sums {
	unsigned char *file;
	const unsigned char *rows; /* records * row bytes */
	const unsigned char *dims;
	uint64_t dims_count;
	size_t row; /* 8: hash; 16, Ragged: hash, end of the shape in dims */
};

/* The hash of a record: of its table entry and of the hash of its stored
 * bytes, so that damage of either is damage of this record alone. */
uint64_t zr_record_hash(const unsigned char *entry, uint64_t stored_hash);

/* Read check.zr of a container: `size` bytes from `fd`. `head_hash` is the
 * hash of the first 4096 bytes of meta.zr, `dict_hash` that of dict.zr or 0.
 * Returns 0,
 * -EUCLEAN if it is damaged or is not of this container, -ENOMEM, -EIO. */
struct zr_meta;
int zr_sums_read(struct zr_sums *s, int fd, uint64_t size,
		 const struct zr_meta *meta, uint64_t head_hash,
		 uint64_t dict_hash, const char *path, struct zr_error *err);
void zr_sums_free(struct zr_sums *s);

/* Hash of record `id`, and the shape that a Ragged one should have; false if
 * the shape cannot be. */
uint64_t zr_sums_hash(const struct zr_sums *s, uint64_t id);
bool zr_sums_shape(const struct zr_sums *s, uint64_t id,
		   struct zr_shape *shape);

/* ---- Writing */

struct zr_sums_writer {
	int fd;      /* check.zr, -1: not written */
	int dims_fd; /* a file without a name: dims until they are placed */
	size_t row;
	uint64_t dims; /* so far; rolled back with the records */
	uint64_t dict_hash;
	uint64_t *kept; /* dims not yet in dims_fd */
	size_t kept_count;
	uint64_t kept_from;
};

int zr_sums_start(struct zr_sums_writer *w, int dir, enum zr_kind kind);
/* Add the dims of the next record. */
int zr_sums_add_dims(struct zr_sums_writer *w, const uint64_t *dims,
		     size_t count);
/* Write rows [first, first + count). */
int zr_sums_write_rows(struct zr_sums_writer *w, const unsigned char *rows,
		       uint64_t first, size_t count);
/* Put everything in its place and sync it. */
int zr_sums_finish(struct zr_sums_writer *w, uint64_t records, uint64_t tail,
		   const unsigned char *meta_head);
void zr_sums_end(struct zr_sums_writer *w);

#endif
