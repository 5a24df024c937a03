/* SPDX-License-Identifier: BSD-2-Clause
 * The transform threads: call the caller's function on gathered batches. */
#ifndef ZL_CHANGE_H
#define ZL_CHANGE_H

/* One of them; takes the loader. */
void *zl_change_main(void *loader);

#endif
