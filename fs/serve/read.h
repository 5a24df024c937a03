/* SPDX-License-Identifier: BSD-2-Clause
 * READ. */
#ifndef READ_H
#define READ_H

#include <fuse_lowlevel.h>

void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
	     struct fuse_file_info *fi);

#endif
