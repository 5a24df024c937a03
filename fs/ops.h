/* SPDX-License-Identifier: BSD-2-Clause
 * The operations that the kernel asks for. */
#ifndef OPS_H
#define OPS_H

#include <fuse_lowlevel.h>

#include "mount.h"

struct parked;

/* The table for fuse_session_new; the userdata is a struct mount. */
extern const struct fuse_lowlevel_ops ops_table;

/* ---- dir.c, read.c ---- */

/* Return true if each listing should tell the kernel all about the files, so
 * that it knows them when they are pushed. */
bool dir_tells_all(const struct mount *m);

void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		struct fuse_file_info *fi);
void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi);
/* Try once more to answer a READ. Returns false if it must wait still. */
bool read_again(struct mount *m, const struct parked *p);

void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
	     struct fuse_file_info *fi);

#endif
