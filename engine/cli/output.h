/* SPDX-License-Identifier: BSD-2-Clause
 * A file or directory that appears at its path whole or not at all. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>

struct output {
	char *path, *temp; /* temp: beside path, hidden */
	int fd;            /* of the file or of the directory */
	bool dir;
};

/* Make the hidden file or directory. CLI_FAILED after printing. */
int output_start(struct output *o, const char *path, bool dir);
/* Sync it and rename it to its path, replacing nothing; ends `o`. */
int output_commit(struct output *o);
/* Remove it; ends `o`. */
void output_discard(struct output *o);

/* Let SIGINT, SIGTERM and SIGHUP only set a flag, so that what is unfinished
 * can be removed. output_stopped() prints nothing; main() ends the program
 * with the signal. */
void output_catch_signals(void);
int output_stopped(void); /* the signal, or 0 */

#endif
