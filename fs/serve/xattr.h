/* SPDX-License-Identifier: BSD-2-Clause
 * Extended attributes. */
#ifndef XATTR_H
#define XATTR_H

#include <fuse_lowlevel.h>

void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size);
void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size);

#endif
