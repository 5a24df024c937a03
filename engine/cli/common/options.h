/* SPDX-License-Identifier: BSD-2-Clause
 * The options of a command: a table of them, and where each goes. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <unistd.h> /* optind */

#include "cli.h"

/* A table ends with a row without a name. */
struct option_row {
	const char *name;   /* "json" is --json, "j" is -j */
	bool *flag;         /* set to true; or */
	const char **value; /* NULL if it is not given; points into argv */
};

/* Take the options of the command line, and --help, which every command has;
 * `optind` is then the first argument. An option with a value that is given
 * twice is wrong usage: one of the two would be forgotten. Returns -1 to go
 * on, else the exit status, after printing. */
int options_take(const struct command *cmd, const struct option_row *rows,
		 int argc, char **argv);

/* What --help prints, for a command that passes its options on. */
int options_help(const struct command *cmd);

/* Are the paths in the wrong order: is there no source, but something at the
 * destination, which is new? Then prints both, and the command line that was
 * meant if that could be. A status as of options_take. */
int options_order(const struct command *cmd, bool dst_first, int argc,
		  char **argv);
/* The same where one of them is the value of an option and the other is
 * `argument`. */
int options_value_order(const struct command *cmd, const char *option,
			const char *dst, const char *src, const char *argument);

/* Parse the value of -j, which may be NULL: *threads is then as it was. A
 * status as of options_take. */
int options_threads(const struct command *cmd, const char *value,
		    unsigned *threads);

#endif
