/* SPDX-License-Identifier: BSD-2-Clause
 * File names of records and batches: index <-> zero-padded digits. */
#ifndef NAME_H
#define NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest name of a file, and what the kernel asks us to refuse. */
#define NAME_LENGTH_MAX 255
/* Room for the longest name that name_format makes, with its NUL. */
#define NAME_ROOM 32

/* Return how many digits the names of `count` files have: enough for the
 * last of them, so that their byte order is their order, and at least 6. */
unsigned name_width(uint64_t count);

/* Write `index` with at least `width` (up to 20) digits, then `suffix` (at
 * most 8 bytes), then a NUL; returns the length without the NUL. */
size_t name_format(char buf[static NAME_ROOM], uint64_t index, unsigned width,
		   const char *suffix);

/* Parse what name_format writes, with any number of leading zeros. Returns
 * false, and leaves *index alone, for every other name. */
bool name_parse(const char *name, const char *suffix, uint64_t *index);

/* Parse a decimal number as it is usually written: no leading zero. A
 * directory must have one name only, since the kernel allows it one place in
 * the tree. Returns false, and leaves *value alone, for anything else. */
bool name_parse_number(const char *name, uint64_t *value);

#endif
