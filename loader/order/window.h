/* SPDX-License-Identifier: BSD-2-Clause
 * The window order: a permutation in which no record moves far. */
#ifndef ZL_WINDOW_H
#define ZL_WINDOW_H

#include <stddef.h>
#include <stdint.h>

/* Images of first, first + 1, ... in epoch `epoch`. */
void zl_window_fill(uint64_t n, uint64_t window, uint64_t seed, uint64_t epoch,
		    uint64_t first, size_t count, uint64_t *ids);

#endif
