/* SPDX-License-Identifier: BSD-2-Clause
 * Files that are made of several records, whatever their kind: a batch, a
 * gather, all.npy. */
#ifndef COMPOSED_H
#define COMPOSED_H

#include "tree/mount.h"

/* Make the bytes [off, off + size) of the file `n`, which has `total` bytes, in
 * memory of the worker, which is good until it makes others. Returns 0,
 * -ENOMEM, -ESTALE (the kernel forgot the selection) or as image_hold. */
int composed_read(struct mount *m, struct worker *w, struct stream *s,
		  const struct node *n, uint64_t total, uint64_t off,
		  size_t size, const void **data, size_t *len, struct zr_error *err);

#endif
