/* SPDX-License-Identifier: BSD-2-Clause
 * Floats as text. */
#ifndef ZR_FLOAT_H
#define ZR_FLOAT_H

#include "out.h"

/* A float of `size` bytes (2, 4, 8, 16) in the byte order of the machine;
 * with `plus` one that has no sign gets a '+'. */
void zr_out_float(struct zr_out *o, const void *value, size_t size, bool plus);
/* Is it neither infinite nor NaN? */
bool zr_float_finite(const void *value, size_t size);

#endif
