/* SPDX-License-Identifier: BSD-2-Clause
 * The records of a selection, one after the other. */
#ifndef EACH_H
#define EACH_H

#include "cli.h"

/* One record, read. `elements` is good until the next one. */
struct each {
	uint64_t id;
	struct zr_shape shape;
	const void *elements;
	uint64_t bytes;
};

/* Called for each record; anything but CLI_OK ends the walk. */
typedef int (*each_fn)(void *ctx, const struct zr_info *info,
		       const struct each *rec);

/* Parse SELECTION for c, or what is in FILE for "@FILE"; returns CLI_OK, or CLI_FAILED or CLI_USAGE after
 * printing. `cmd` is for the message. */
int each_parse(const struct command *cmd, const struct zr_container *c,
	       const char *path, const char *text, struct zr_selection *out);

/* Read the records of `sel` in turn (NULL: all). The first bad record ends the
 * walk with CLI_FAILED, after printing. */
int each_record(const struct zr_container *c, const struct zr_selection *sel,
		each_fn fn, void *ctx);

#endif
