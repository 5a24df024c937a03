/* SPDX-License-Identifier: BSD-2-Clause
 * One record: its stored bytes, checked, decoded, and the shape in front of
 * them. */
#ifndef ZR_FETCH_H
#define ZR_FETCH_H

#include "base/buffer.h"
#include "format/container.h"

/* Bytes of the longest shape prefix of a Ragged record (F5). */
#define ZR_PREFIX_MAX (1 + 8 * ZR_RANK_MAX)

/* What one thread of a gather uses. */
struct zr_lane {
	struct zr_decoder *decoder; /* made when first needed */
	struct zr_buffer stored;    /* stored bytes of a record, if read */
	struct zr_buffer decoded;   /* a record that has no place of its own */
	bool check;                 /* compare with the hash of the sidecar */
	bool stream; /* of a gather that is too long for caches */
};

/* The shape of a Ragged record, and where its elements are in it. */
struct zr_layout {
	struct zr_shape shape;
	size_t prefix;  /* bytes before the elements */
	uint64_t bytes; /* bytes of the elements */
};

/* The error of a record whose bytes are no longer there. */
int zr_fault(const struct zr_container *c, uint64_t id, struct zr_error *err);

/* What reading these records gave, or -EIO: a mapped file that was cut inside
 * a page gives zeros up to the end of the page, which no fault tells. */
int zr_unless_cut(int rc, const struct zr_container *c, const uint64_t *ids,
		  size_t count, struct zr_error *err);

/* Read and decode the record at `e` into `dst`, which has room for e->logic
 * bytes. `id` is for messages. This and zr_fetch_prefix read mapped bytes:
 * callers hold a guard. */
int zr_fetch(const struct zr_container *c, struct zr_lane *lane, uint64_t id,
	     const struct zr_entry *e, void *dst, struct zr_error *err);

/* Compare the stored bytes of a record with its hash, if the lane asks. */
int zr_compare(const struct zr_container *c, const struct zr_lane *lane,
	       uint64_t id, const void *stored, size_t len,
	       struct zr_error *err);

/* Read `len` bytes from byte `offset` on of a raw record, unchecked. */
int zr_fetch_part(const struct zr_container *c, uint64_t id,
		  const struct zr_entry *e, uint64_t offset, void *dst,
		  size_t len, struct zr_error *err);

/* Read the first `len` <= e->logic bytes of a record into `dst`. */
int zr_fetch_prefix(const struct zr_container *c, struct zr_lane *lane,
		    uint64_t id, const struct zr_entry *e, void *dst,
		    size_t len, struct zr_error *err);

/* Check the shape prefix of a Ragged record of `logic` bytes of which the
 * first `len` are at p; len is at least the smaller of logic and
 * ZR_PREFIX_MAX. Returns 0 or -EBADMSG. */
int zr_layout_decode(struct zr_layout *out, const struct zr_container *c,
		     uint64_t id, const unsigned char *p, size_t len,
		     uint32_t logic, struct zr_error *err);

#endif
