/* SPDX-License-Identifier: BSD-2-Clause
 * The slots of the ring: which is next, who holds one, and when all memory
 * goes. hold, put and return take the lock; the others want it held. */
#ifndef ZL_SLOT_H
#define ZL_SLOT_H

#include "loader.h"

/* The slot in this state whose step comes first, or NULL. */
struct zl_slot *zl_slot_first(struct zl_loader *l, enum zl_slot_state state);

/* Store the state in front of the first step that was not delivered. */
void zl_slots_undelivered(const struct zl_loader *l, struct zl_state *state);

/* Free every slot that neither the caller nor a tensor holds. */
void zl_slots_drop(struct zl_loader *l);

/* A reference of a tensor. The last one of a closed loader frees it. */
void zl_slot_hold(struct zl_slot *slot);
void zl_slot_put(struct zl_slot *slot);

/* The caller's reference: gives it out, takes it back. */
void zl_slot_lend(struct zl_slot *slot);
void zl_slot_return(struct zl_slot *slot);

/* Free all memory of a loader without threads. */
void zl_loader_free(struct zl_loader *l);

#endif
