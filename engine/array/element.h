/* SPDX-License-Identifier: BSD-2-Clause
 * One element of an array as text, by its dtype. */
#ifndef ZR_ELEMENT_H
#define ZR_ELEMENT_H

#include "datetime.h"
#include "out.h"

/* How to write the elements of an array. */
struct zr_element {
	void (*write)(struct zr_out *o, const struct zr_element *e,
		      const unsigned char *p);
	size_t size;
	struct zr_time time;
	bool swap; /* the other byte order than this machine's */
	bool json;
};

void zr_element_init(struct zr_element *e, const struct zr_dtype *dtype,
		     bool json);

#endif
