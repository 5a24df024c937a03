/* SPDX-License-Identifier: BSD-2-Clause
 * A file without a name, for what must be read more than once and cannot. */
#ifndef SPOOL_H
#define SPOOL_H

#include "common/cli.h"

/* Make one in TMPDIR, else /tmp, of at least `bytes` (0: not known): a small
 * one is in memory. `name` is of what goes into it, for messages. Returns its
 * descriptor, or -1 after printing. */
int spool_open(const char *name, uint64_t bytes);
int spool_write(int fd, const char *name, const void *buf, size_t len);

#endif
