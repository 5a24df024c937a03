/* SPDX-License-Identifier: BSD-2-Clause
 * The room source: what a command is given, arrays, lines or containers, made one
 * sequence of records.
 *
 * Where `create`, `recode` and `train` take records from. */
#ifndef SOURCE_H
#define SOURCE_H

#include "common/paths.h"
#include "input.h"
#include "lines.h"

/* Some records in a row. The memory is the batch's and is used again. */
struct batch {
	size_t count;
	unsigned char *items; /* Dense */
	size_t items_size;
	struct zr_ragged ragged; /* Ragged */
};

struct source {
	enum zr_kind kind;
	struct zr_dtype dtype;
	struct zr_shape item_shape; /* of each record, if they have one */
	bool uniform;               /* item_shape holds for all */
	uint64_t records;           /* ZR_NONE: not known */
	bool rewinds;               /* may be read a second time */
	size_t batch_most;          /* records of a batch; 0: as many as fit */

	enum {
		SOURCE_AXIS0,
		SOURCE_WHOLE,
		SOURCE_CONTAINER,
		SOURCE_LINES
	} from;
	struct paths files; /* in order */
	struct npz *npz;    /* or its members */
	size_t at;       /* next file or member */
	struct input in;
	bool open;     /* `in` is */
	uint64_t left; /* AXIS0: records left in `in` */
	struct zr_container *c;
	struct zr_reader *r;
	uint64_t next_id;        /* or place in sel */
	struct zr_selection sel; /* of a container's records, if any */
	bool selected;
	struct lines lines;
};

/* Look at SRC...; `ragged` makes records of one shape Ragged as well. If
 * `lines`, the one path is a text file. CLI_FAILED after printing. */
int source_open(struct source *s, char **paths, size_t count, bool ragged,
		bool lines, bool skip_empty);
void source_close(struct source *s);

/* Of a container, take only the records of a SELECTION, in its order. As
 * each_parse. */
int source_select(struct source *s, const struct command *cmd, const char *path,
		  const char *selection);

/* Go back to the first record. */
int source_rewind(struct source *s);

/* The next records, at least one and at most some 8 MiB of them; count is 0 at
 * the end. */
int source_next(struct source *s, struct batch *b);

/* Skip `count` records; only where records is known. */
int source_skip(struct source *s, uint64_t count);

void batch_free(struct batch *b);

/* Bytes of the elements of record i, and where they are. */
size_t batch_record(const struct source *s, const struct batch *b, size_t i,
		    const unsigned char **elements);

#endif
