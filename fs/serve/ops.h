/* SPDX-License-Identifier: BSD-2-Clause
 * The operations that the kernel asks for. */
#ifndef OPS_H
#define OPS_H

#include <fuse_lowlevel.h>

#include "tree/mount.h"

/* Return the table for fuse_session_new; the userdata is the mount. */
struct fuse_lowlevel_ops ops_table(const struct options *opt);

/* ---- dir.c, open.c, read.c, xattr.c ---- */

/* Return true if each listing should tell the kernel all about the files, so
 * that it knows them when they are pushed. */
bool dir_tells_all(const struct mount *m);

void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		struct fuse_file_info *fi);
void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi);

/* The handle of a file whose reads go past the page cache; of others 0. */
#define OPEN_DIRECT 1

void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size);
void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size);
void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
	     struct fuse_file_info *fi);

#endif
