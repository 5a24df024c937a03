/* SPDX-License-Identifier: BSD-2-Clause
 * A container, opened, and the facts about its files that cost no reading. */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/options.h"
#include "zrecord.h"

/* A container and what is known of its files without reading. Or, without a
 * container, the folder of several. */
struct stream {
	uint32_t number; /* in inode numbers */
	char *name;      /* of one of several */
	struct zr_container *container;
	const struct zr_info *info;
	enum layout layout;
	bool dense;
	unsigned width;     /* digits in the name of a record */
	uint64_t all_bytes; /* size of all.npy, or 0 if there is none */
	char *json;         /* info.json */
	size_t json_len;
	size_t header_len; /* Dense: of each record's file */
	unsigned char header[ZR_NPY_HEADER_MAX];
};

/* Open the container at `path`, whose records are compared with their check
 * sums if `check`. Returns 0 or a negative errno after saying why; then
 * nothing is left to close. */
int stream_open(struct stream *s, const char *path, bool check);

void stream_close(struct stream *s);

/* Whether a part of record `id` costs little more than its part of the time. */
bool stream_in_parts(const struct stream *s, uint64_t id);

/* Return how many batches of `size` records there are. */
uint64_t stream_batches(const struct stream *s, uint64_t size);

/* Return the number of records in batch `index`, which must exist. */
uint64_t stream_batch_count(const struct stream *s, uint64_t size,
			    uint64_t index);

/* Write the header of a file that holds `count` records of a Dense stream as
 * one array; returns its length. `buf` has ZR_NPY_HEADER_MAX bytes. */
size_t stream_rows_header(const struct stream *s, uint64_t count,
			  unsigned char *buf);

#endif
