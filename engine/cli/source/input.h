/* SPDX-License-Identifier: BSD-2-Clause
 * One .npy array, read from its start to its end: a file, standard input or a
 * member of an .npz. */
#ifndef INPUT_H
#define INPUT_H

#include "common/cli.h"

struct npz; /* an open .npz */
struct npz_member;

struct input {
	char *name; /* for messages */
	struct zr_npy npy;
	uint64_t left; /* bytes of elements not yet read */

	int fd; /* a file or standard input; -1: a member */
	bool seekable;
	uint64_t start; /* where the array begins: standard input may be a
			 * file that was begun */
	struct npz_member *member;
	struct turn *turn; /* Fortran order */
	int spool;         /* -1, or Fortran order that has no file */
};

/* Open and read the header; "-" is standard input. Checks that a file has the
 * bytes its header says, neither fewer nor more. CLI_FAILED after printing. */
int input_open(struct input *in, const char *path);
int input_open_member(struct input *in, const struct npz *z, size_t index);
/* Exactly `len` bytes of the elements, C order. */
int input_read(struct input *in, void *buf, size_t len);
int input_skip(struct input *in, uint64_t len);
/* After the last element: nothing may follow. */
int input_end(struct input *in);
void input_close(struct input *in);

#endif
