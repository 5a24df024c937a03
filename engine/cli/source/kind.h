/* SPDX-License-Identifier: BSD-2-Clause
 * What a file is, told by its first bytes. */
#ifndef KIND_H
#define KIND_H

#include "common/cli.h"

#define KIND_BYTES 16 /* enough to tell */

struct kind {
	const char *what;   /* "gzip data" */
	const char *filter; /* makes text of it; NULL if nothing does */
};

/* NULL if it is none that is known. */
const struct kind *kind_of(const void *bytes, size_t len);

#endif
