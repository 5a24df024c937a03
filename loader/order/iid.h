/* SPDX-License-Identifier: BSD-2-Clause
 * The iid order: draws with replacement from one SFC64 stream. */
#ifndef ZL_IID_H
#define ZL_IID_H

#include <stddef.h>

#include "kernels.h"
#include "random.h"

/* Draw `count` ids below n; the same ones with any kernels. */
void zl_iid_draw(const struct zl_kernels *k, struct zl_sfc *gen, uint64_t n,
		 uint64_t *ids, size_t count);

/* Throw `count` draws away. */
void zl_iid_skip(struct zl_sfc *gen, uint64_t n, uint64_t count);

#endif
