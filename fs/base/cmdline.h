/* SPDX-License-Identifier: BSD-2-Clause
 * The command line: of zrecordfs, and of mount.zrecordfs as mount(8) calls
 * it. */
#ifndef CMDLINE_H
#define CMDLINE_H

#include "options.h"

/* Parse the command line. Strings of `opt` live until options_free or as
 * long as argv. Returns -1 to go on, else the exit status of the program:
 * help and version were printed, or one line about what is wrong. */
int options_parse(struct options *opt, int argc, char **argv);

/* Free what options_parse allocated. */
void options_free(struct options *opt);

#endif
