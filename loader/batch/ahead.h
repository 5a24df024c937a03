/* SPDX-License-Identifier: BSD-2-Clause
 * Draws a step before its turn, so that the disk is asked for its records
 * while those of the present step are gathered. One step is enough: a gather
 * asks for all of its records at once. */
#ifndef ZL_AHEAD_H
#define ZL_AHEAD_H

#include "loader.h"

/* For the gatherer: store the next step's place and ids in *slot and the state
 * behind it in *after, draw what comes then and ask the disk for it. Returns
 * the error of drawing this step, of which slot->err tells. */
int zl_ahead_take(struct zl_loader *l, struct zl_slot *slot,
		  struct zl_state *after);

#endif
