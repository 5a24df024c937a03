/* SPDX-License-Identifier: BSD-2-Clause
 * Listings: READDIR and READDIRPLUS. */
#ifndef DIR_H
#define DIR_H

#include <fuse_lowlevel.h>

#include "tree/mount.h"

/* Return true if each listing should tell the kernel all about the files, so
 * that it knows them when they are pushed. */
bool dir_tells_all(const struct mount *m);

/* The kernel has asked for a node by its name: who lists may ask for more. */
void dir_looked_up(struct mount *m, const struct node *n);

void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		struct fuse_file_info *fi);
void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi);

#endif
