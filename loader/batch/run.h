/* SPDX-License-Identifier: BSD-2-Clause
 * Starts and ends the threads of a loader. */
#ifndef ZL_RUN_H
#define ZL_RUN_H

#include "loader.h"

/* Start threads and readers. Called with the lock held, which it gives away
 * for a while if it fails. */
int zl_run_start(struct zl_loader *l, struct zl_error *err);
/* End them; every slot that the caller does not hold becomes free. */
void zl_run_end(struct zl_loader *l);

#endif
