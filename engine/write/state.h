/* SPDX-License-Identifier: BSD-2-Clause
 * The fields of a writer, and of an append. */
#ifndef ZR_WRITE_STATE_H
#define ZR_WRITE_STATE_H

#include <pthread.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "build.h"
#include "format/codec.h"
#include "format/meta.h"
#include "sums_write.h"

#define ZR_ENTRIES 4096 /* table entries kept before they are written */

/* Memory of a window of records on their way to data.zr. */
struct zr_window_memory {
	struct zr_buffer slots; /* what is known of each record */
	struct zr_buffer out;   /* stored bytes that the caller does not have */
};

struct zr_writer {
	pid_t pid;
	struct zr_build build;
	struct zr_executor *ex;
	struct zr_encode_dict *dict;
	int level;
	unsigned lanes;
	struct zr_encoder **encoder; /* a lane each, made when needed */
	struct zr_buffer *source;    /* a lane each: prefix and elements */

	pthread_mutex_t lock;   /* all below */
	struct zr_meta meta;    /* length and tail_offset: appended so far */
	uint64_t flushed;       /* entries before it are in meta.zr */
	unsigned char *entries; /* [flushed, meta.length) */
	unsigned char *rows;    /* of check.zr, likewise */
	struct zr_sums_writer sums;
	struct zr_window_memory window[2]; /* one is written, one prepared */
	int failed;                 /* the kept error of writing */
	struct zr_error error;
};

/* The records of one append, Dense or Ragged. */
struct zr_append {
	const unsigned char *items; /* Dense; NULL for Ragged */
	const struct zr_ragged *batch;
	size_t count;
	uint64_t width; /* Dense: bytes of a record */
};

#endif
