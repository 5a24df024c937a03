/* SPDX-License-Identifier: BSD-2-Clause
 * A progress bar on standard error, if that is a terminal. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* None with -q (cli_quiet). Drawn by a thread of its own, so that it goes on while a step takes long. */
struct progress {
	const char *what, *unit;
	uint64_t total; /* 0: not known */
	_Atomic uint64_t done;
	struct timespec start;
	pthread_t thread;
	bool on; /* there is the thread */
};

/* `what` is a path, of which the name is shown. */
void progress_start(struct progress *p, const char *what, const char *unit,
		    uint64_t total);
/* The same for what cannot be counted: shows what is being done, and since
 * when. */
void progress_busy(struct progress *p, const char *what, const char *doing);
/* `done` of the total are done. */
void progress_at(struct progress *p, uint64_t done);
/* Take the bar away. */
void progress_end(struct progress *p);

/* What progress_start shows after `t` seconds, in at most `columns` columns of
 * a terminal and `size` bytes. */
void progress_line(char *line, size_t size, int columns, const char *what,
		   const char *unit, uint64_t done, uint64_t total, double t);

#endif
