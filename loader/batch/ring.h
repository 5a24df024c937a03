/* SPDX-License-Identifier: BSD-2-Clause
 * The memory of the ring: slots, and the pages that batches lie in. */
#ifndef ZL_RING_H
#define ZL_RING_H

#include "loader.h"

/* Make room in *r for `size` bytes; what it held is lost. */
int zl_region_grow(struct zl_loader *l, struct zl_region *r, size_t size);
void zl_region_drop(struct zl_loader *l, struct zl_region *r);
int zl_ring_make(struct zl_loader *l);
void zl_ring_free(struct zl_loader *l);

#endif
