/* SPDX-License-Identifier: BSD-2-Clause
 * The integrity sidecar check.zr (FORMAT.md F13): hashes of all that a
 * container is, and the shapes of Ragged records. */
#ifndef ZR_SUMS_H
#define ZR_SUMS_H

#include "base/hash.h"
#include "zrecord.h"

#define ZR_SUMS_NAME "check.zr"
#define ZR_SUMS_HEAD 64
#define ZR_DIMS_NAME "dims" /* beside it while it is written */

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

#endif
