/* SPDX-License-Identifier: BSD-2-Clause
 * A text file, line by line. */
#ifndef LINES_H
#define LINES_H

#include <sys/types.h>

#include "common/cli.h"

struct lines {
	char *name; /* for messages */
	FILE *f;
	off_t start; /* standard input may be a file that was begun */
	bool skip_empty;
	char *line; /* the last that was read */
	size_t room;
};

/* Open a text file, "-" for standard input, and count its lines. Refuses what
 * is no text, and an empty line unless `skip_empty`. CLI_FAILED after
 * printing. */
int lines_open(struct lines *l, const char *path, bool skip_empty,
	       uint64_t *count);
int lines_rewind(struct lines *l);
/* The next line, without its end; *text is good until the next one, and NULL
 * at the end of the file. */
int lines_next(struct lines *l, const char **text, size_t *len);
void lines_close(struct lines *l);

#endif
