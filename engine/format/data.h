/* SPDX-License-Identifier: BSD-2-Clause
 * Where the committed bytes of data.zr are: mapped, resident or read. */
#ifndef ZR_DATA_H
#define ZR_DATA_H

#include "zrecord.h"

struct zr_data {
	const unsigned char *bytes; /* NULL: read them */
	size_t len;                 /* of bytes */
	bool mapped;                /* a read of bytes needs a guard */
	size_t allocated;           /* of a resident copy */
	bool remote;                /* I/O that the kernel may not count */
};

/* Place the first `len` bytes of `fd`. Returns 0 or a negative errno;
 * -ENODATA if the file is shorter. */
int zr_data_place(struct zr_data *d, int fd, uint64_t len,
		  enum zr_placement placement);
void zr_data_release(struct zr_data *d);

#endif
