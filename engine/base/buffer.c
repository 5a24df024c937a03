/* SPDX-License-Identifier: BSD-2-Clause
 * Memory that grows and is used again. */
#include "buffer.h"

#include <errno.h>
#include <stdlib.h>

int zr_buffer_room(struct zr_buffer *b, size_t size)
{
	size_t grown = b->size + b->size / 2;
	unsigned char *p;

	if (size <= b->size)
		return 0;
	if (grown < size)
		grown = size;
	free(b->p);
	*b = (struct zr_buffer){ NULL, 0 };
	p = malloc(grown);
	if (!p)
		return -ENOMEM;
	b->p = p;
	b->size = grown;
	return 0;
}
