/* SPDX-License-Identifier: BSD-2-Clause
 * An array in Fortran order, read in C order, a block of rows at a time. */
#ifndef TURN_H
#define TURN_H

#include "common/cli.h"

struct turn;

/* The elements of `npy` lie in the file `fd` from byte `offset` on, for as
 * long as the turn lives; `name` is for messages. CLI_FAILED after printing. */
int turn_open(struct turn **out, const char *name, const struct zr_npy *npy,
	      int fd, uint64_t offset);
/* `len` bytes of the elements in C order from byte `at` on. */
int turn_read(struct turn *t, uint64_t at, void *buf, size_t len);
void turn_close(struct turn *t);

#endif
