/* SPDX-License-Identifier: BSD-2-Clause
 * What the tree holds: which nodes exist, under which names, with which
 * attributes. */
#ifndef ATTR_H
#define ATTR_H

#include <sys/stat.h>

#include "tree/mount.h"

/* A container does not change while it is mounted: what the kernel knows
 * stays true for as long as it likes. In seconds. */
#define FOREVER 1e9

/* Return true if the stream has this node. */
bool attr_exists(const struct stream *s, const struct node *n);

/* Store in *n what an inode number from the kernel stands for. Returns 0, or
 * -ENOENT if this mount has no such node. */
int attr_node(struct mount *m, uint64_t ino, struct node *n);

/* Store the attributes of a node that exists. LOOKUP, GETATTR and
 * READDIRPLUS all answer with these. Returns 0, -EFBIG, -ESTALE, -EIO or
 * -ENOMEM. */
int attr_get(struct mount *m, const struct node *n, struct stat *st);

/* Store in *child what `name` in the directory `parent` is. If it is a
 * NODE_GATHER, that is a reference of the kernel: see gather_drop. Returns 0,
 * -ENOENT, -ENOTDIR, -ENAMETOOLONG, -ESTALE or -ENOMEM. */
int attr_lookup(struct mount *m, const struct node *parent, const char *name,
		struct node *child);

/* Return the directory that a node of this mount is in. */
struct node attr_parent(struct mount *m, const struct node *n);

/* Store the entry at place `place` of a directory: its name and what it is.
 * Places count from 0, "." and ".." are the first two; finding any place
 * costs the same. Returns false after the last. */
bool attr_entry(struct mount *m, const struct node *dir, uint64_t place,
		char *name, struct node *child);

#endif
