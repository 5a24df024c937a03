/* SPDX-License-Identifier: BSD-2-Clause
 * A progress bar on standard error, if that is a terminal. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct progress {
	const char *what, *unit;
	uint64_t total; /* 0: not known */
	struct timespec start, shown;
	bool on;
};

void progress_start(struct progress *p, const char *what, const char *unit,
		    uint64_t total);
/* `done` of the total are done. Shows at most some five times a second. */
void progress_at(struct progress *p, uint64_t done);
/* Take the bar away. */
void progress_end(struct progress *p);

#endif
