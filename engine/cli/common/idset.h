/* SPDX-License-Identifier: BSD-2-Clause
 * Ids in ascending order, and the selection that names them. */
#ifndef IDSET_H
#define IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct idset {
	struct idset_run {
		uint64_t first, end;
	} *run;
	size_t runs, room;
	uint64_t count;
};

/* Add ids [first, end) above those that are in. Returns false if there is no
 * memory. */
bool idset_add(struct idset *s, uint64_t first, uint64_t end);
void idset_free(struct idset *s);

/* Print it as a SELECTION, "0:5,6,8:10". */
void idset_print(const struct idset *s, FILE *f);

#endif
