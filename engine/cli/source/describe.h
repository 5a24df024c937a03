/* SPDX-License-Identifier: BSD-2-Clause
 * What a container is, in words. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include "source.h"

/* "(8, 8)", as Python writes it. */
void describe_shape(FILE *f, const struct zr_shape *shape);

/* All that the container takes: the table and the checksums too. */
uint64_t describe_bytes(const char *path);

/* A line on standard error, unless cli_quiet: the container that was just made
 * of `src`, and what of its folder was left out. */
void describe_made(const char *path, const struct source *src);
/* Only the latter, if there is any. */
void describe_left_out(const struct source *src);

#endif
