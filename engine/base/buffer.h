/* SPDX-License-Identifier: BSD-2-Clause
 * Memory that grows and is used again. */
#ifndef ZR_BUFFER_H
#define ZR_BUFFER_H

#include <stddef.h>

struct zr_buffer {
	unsigned char *p;
	size_t size;
};

/* Make room for at least `size` bytes; contents are lost when it grows. */
int zr_buffer_room(struct zr_buffer *b, size_t size);

#endif
