/* SPDX-License-Identifier: BSD-2-Clause
 * The containers of a mount: one, or all in a folder. */
#ifndef STREAMS_H
#define STREAMS_H

#include "mount.h"

/* Open the container at `path`, or all in the folder `path`. Returns 0 or a
 * negative errno after saying why; streams_close is right in both cases. */
int streams_open(struct mount *m, const char *path);

void streams_close(struct mount *m);

/* Return the one of several that has this name, or NULL. */
const struct stream *stream_named(const struct mount *m, const char *name);

/* Return the stream a node belongs to, or NULL. */
struct stream *mount_stream(struct mount *m, const struct node *n);

#endif
