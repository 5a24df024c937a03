/* SPDX-License-Identifier: BSD-2-Clause
 * Which word a misspelt one was meant to be. */
#ifndef NEAR_H
#define NEAR_H

#include <limits.h>
#include <stddef.h>

#define NEAR_NOT UINT_MAX

/* How far the word of `len` bytes is from `name`: 0 if it begins it; NEAR_NOT
 * if it is hardly meant. */
unsigned near_distance(const char *word, size_t len, const char *name);

#endif
