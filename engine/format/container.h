/* SPDX-License-Identifier: BSD-2-Clause
 * The room format: the bytes of a container as docs/FORMAT.md has them:
 * opening, checking and describing one; where a record lies; the codecs.
 *
 * An open container, and where its records lie. */
#ifndef ZR_CONTAINER_H
#define ZR_CONTAINER_H

#include <stdatomic.h>

#include "codec.h"
#include "data.h"
#include "meta.h"
#include "sums.h"
#include "zrecord.h"

/* What is learned about a container while it is read. */
struct zr_disk {
	atomic_uint quiet; /* looks in a row that saw no I/O (prefetch.h) */
};

/* Immutable after zr_open, so shared without locks; but for *disk. */
struct zr_container {
	char *path;      /* as given to zr_open, for messages */
	char *data_path; /* path of data.zr, for messages */
	int meta_fd;     /* holds the shared lock */
	int data_fd;
	unsigned char *table; /* as in meta.zr: 16 bytes a record */
	struct zr_data data;
	struct zr_disk *disk;
	struct zr_sums sums;           /* file NULL: none in use */
	bool check;                    /* compare every record with them */
	uint64_t head_hash, dict_hash; /* of meta.zr's first 4096, dict.zr */
	struct zr_decode_dict *dict;
	struct zr_meta meta;
	uint64_t header_tail; /* above meta.tail_offset: data.zr was cut */
	struct zr_info info;
};

/* A table entry that zr_locate has checked. */
struct zr_entry {
	uint64_t offset;
	uint32_t stored; /* bytes in data.zr */
	uint32_t logic;  /* bytes of the record, with a Ragged shape prefix */
};

/* Look up record `id` and check its entry (F4). Returns 0, -ERANGE, -EBADMSG.
 */
int zr_locate(const struct zr_container *c, uint64_t id, struct zr_entry *out,
	      struct zr_error *err);

#endif
