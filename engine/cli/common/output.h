/* SPDX-License-Identifier: BSD-2-Clause
 * A file or directory that appears at its path whole or not at all. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "zrecord.h"

struct output {
	char *path, *temp; /* temp: beside path, hidden */
	int fd;            /* of the file or of the directory; -1: closed */
	bool dir;
};

/* Make the hidden file or directory. CLI_FAILED after printing. */
int output_start(struct output *o, const char *path, bool dir);
/* Sync it and rename it to its path, replacing nothing; ends `o`. */
int output_commit(struct output *o);
/* Remove it; ends `o`. */
void output_discard(struct output *o);

/* The same for containers: zr_create, zr_publish and zr_discard, with what a
 * signal must know. CLI_FAILED after printing. */
int output_create(struct zr_writer **w, const char *dst, enum zr_kind kind,
		  const struct zr_dtype *dtype, const struct zr_shape *shape,
		  const struct zr_create_options *opt);
int output_publish(struct zr_writer *w, const char *dst);
void output_abandon(struct zr_writer *w);

#endif
