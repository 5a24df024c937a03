/* SPDX-License-Identifier: BSD-2-Clause
 * The gatherer: fills slots with the records of coming steps. */
#ifndef ZL_GATHER_H
#define ZL_GATHER_H

/* Its thread; takes the loader. */
void *zl_gather_main(void *loader);

#endif
