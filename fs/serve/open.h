/* SPDX-License-Identifier: BSD-2-Clause
 * OPEN, where the kernel still asks. */
#ifndef OPEN_H
#define OPEN_H

#include <fuse_lowlevel.h>

/* The handle of a file whose reads go past the page cache; of others 0. */
#define OPEN_DIRECT 1

void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);

#endif
