/* SPDX-License-Identifier: BSD-2-Clause
 * Signals that end the driver: the mount leaves the tree at once, the driver
 * goes on until the last open file is closed. A second signal ends it, whether
 * it could be unmounted or not. */
#ifndef DETACH_H
#define DETACH_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "unmounter.h"

struct detach {
	struct unmounter *unmounter;
	pthread_t thread;
	sigset_t signals;
	_Atomic bool signalled; /* the next one ends us */
	_Atomic bool stop;
};

/* Block the signals in this thread and those it starts; they wait. */
void detach_block(void);

/* Start the thread that takes them, and has them unmounted by `u`. Returns 0 or
 * a negative errno. */
int detach_start(struct detach *d, struct unmounter *u);

/* End the thread. */
void detach_stop(struct detach *d);

#endif
