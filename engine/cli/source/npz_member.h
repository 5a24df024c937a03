/* SPDX-License-Identifier: BSD-2-Clause
 * The bytes of one member of an .npz. */
#ifndef NPZ_MEMBER_H
#define NPZ_MEMBER_H

#include "npz.h"

struct npz_member;

/* Bytes of a member, inflated, from its start on. */
int npz_member_open(struct npz_member **out, const struct npz *z, size_t index,
		    char **name);
/* *got is less than `len` only at the end. */
int npz_member_read(struct npz_member *m, void *buf, size_t len, size_t *got);
int npz_member_end(struct npz_member *m); /* nothing follows, CRC is right */
void npz_member_close(struct npz_member *m);

#endif
