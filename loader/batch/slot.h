/* SPDX-License-Identifier: BSD-2-Clause
 * The slots of the ring: which is next, who holds one, and when all memory
 * goes. But for zl_slot_hold and zl_slot_put, called with the lock held. */
#ifndef ZL_SLOT_H
#define ZL_SLOT_H

#include "loader.h"

/* The slot in this state whose step comes first, or NULL. */
struct zl_slot *zl_slot_first(struct zl_loader *l, enum zl_slot_state state);

/* Store the state in front of the first step that was not delivered. */
void zl_slots_undelivered(const struct zl_loader *l, struct zl_state *state);

/* Free every slot that the caller does not hold. */
void zl_slots_drop(struct zl_loader *l);

/* Add and drop one reference; frees a closed loader with the last one. */
void zl_slot_hold(struct zl_slot *slot);
void zl_slot_put(struct zl_slot *slot);

/* Free all memory of a loader without threads. */
void zl_loader_free(struct zl_loader *l);

#endif
