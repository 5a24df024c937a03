/* SPDX-License-Identifier: BSD-2-Clause
 * The room serve: the answers to the requests of the kernel, and what it is
 * told before it asks.
 *
 * The operations that the kernel asks for. */
#ifndef OPS_H
#define OPS_H

#include <fuse_lowlevel.h>

#include "tree/mount.h"

/* Return the table for fuse_session_new; the userdata is the mount. */
struct fuse_lowlevel_ops ops_table(const struct options *opt);

#endif
