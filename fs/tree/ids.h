/* SPDX-License-Identifier: BSD-2-Clause
 * Which records a file is made of: a run of them, or a selection. */
#ifndef IDS_H
#define IDS_H

#include "mount.h"

struct ids {
	const struct zr_selection *selection; /* NULL: a run from `first` on */
	uint64_t first;
	uint64_t count;
};

/* Store in *ids the records of a batch, a gather or all.npy; give them back
 * with ids_put. Returns 0, or -ESTALE if the kernel forgot the selection. */
int ids_hold(struct mount *m, const struct node *n, struct ids *ids);

void ids_put(struct mount *m, const struct node *n);

/* Store ids number [at, at + count) in `out`. There are as many. */
void ids_get(const struct ids *ids, uint64_t at, size_t count, uint64_t *out);

/* Return id number `at`, which there is. */
uint64_t ids_at(const struct ids *ids, uint64_t at);

#endif
