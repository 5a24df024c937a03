/* SPDX-License-Identifier: BSD-2-Clause
 * File names in JSON. */
#ifndef JSONNAME_H
#define JSONNAME_H

#include <stdio.h>

/* Write a file name as a JSON string. A byte that is not part of UTF-8 becomes
 * the half of a surrogate pair that Python's os.fsencode turns back. */
void json_name(FILE *out, const char *name);

#endif
