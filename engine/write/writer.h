/* SPDX-License-Identifier: BSD-2-Clause
 * A container that is being built. */
#ifndef ZR_WRITER_H
#define ZR_WRITER_H

#include <pthread.h>
#include <sys/types.h>

#include "format/codec.h"
#include "format/meta.h"
#include "read/reader.h"
#include "format/sums.h"

#define ZR_ENTRIES 4096 /* table entries kept before they are written */

/* The names and descriptors of a build: a hidden directory beside the path. */
struct zr_build {
	char *path;  /* as given, for messages */
	char *name;  /* last component of path */
	char *temp;  /* name of the hidden directory, NULL: none made */
	int parent;  /* directory of both */
	int dir;     /* the hidden directory */
	int meta_fd; /* holds the exclusive lock */
	int data_fd;
};

/* Memory of a window of records on their way to data.zr. */
struct zr_window {
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
	struct zr_window window[2]; /* one is written, one prepared */
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

/* Make the hidden directory with its files beside `path`. */
int zr_build_start(struct zr_build *b, const char *path, struct zr_error *err);
/* Put it on stable storage and at its path. */
int zr_build_commit(struct zr_build *b, struct zr_error *err);
/* Close all; `remove`: unless committed, remove what was made. */
void zr_build_end(struct zr_build *b, bool remove);

/* Write the records of an append behind the tail and add their entries. With
 * the lock held. On failure the caller rolls back. */
int zr_write(struct zr_writer *w, const struct zr_append *a,
	     struct zr_error *err);

/* Write the kept entries to the table. */
int zr_flush_entries(struct zr_writer *w, struct zr_error *err);

#endif
