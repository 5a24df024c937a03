/* SPDX-License-Identifier: BSD-2-Clause
 * The directory to mount on. */
#ifndef MOUNTPOINT_H
#define MOUNTPOINT_H

#include "base/options.h"

/* Return the absolute path to mount on, free it; or NULL after saying why it
 * cannot be. A dead mount of ours is taken away first if the options say so. */
char *mountpoint_find(const struct options *opt);

#endif
