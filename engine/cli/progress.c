/* SPDX-License-Identifier: BSD-2-Clause
 * A progress bar on standard error, if that is a terminal. */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WIDTH 24

static double since(const struct timespec *a, const struct timespec *b)
{
	return (double)(b->tv_sec - a->tv_sec) +
	       1e-9 * (double)(b->tv_nsec - a->tv_nsec);
}

void progress_start(struct progress *p, const char *what, const char *unit,
		    uint64_t total)
{
	const char *slash = strrchr(what, '/');

	p->what = slash && slash[1] ? slash + 1 : what;
	p->unit = unit;
	p->total = total;
	p->on = isatty(STDERR_FILENO);
	clock_gettime(CLOCK_MONOTONIC, &p->start);
	p->shown = p->start;
}

void progress_at(struct progress *p, uint64_t done)
{
	char bar[WIDTH + 1];
	struct timespec now;
	double t, share, rate;
	int filled;

	if (!p->on)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (since(&p->shown, &now) < 0.2)
		return;
	p->shown = now;
	t = since(&p->start, &now);
	rate = (double)done / t;
	if (!p->total) {
		fprintf(stderr, "\r\033[K%.30s: %llu %s, %.0f/s", p->what,
			(unsigned long long)done, p->unit, rate);
		return;
	}
	share = (double)done / (double)p->total;
	filled = (int)(share * WIDTH);
	memset(bar, '.', WIDTH);
	memset(bar, '#', (size_t)(filled > WIDTH ? WIDTH : filled));
	bar[WIDTH] = '\0';
	fprintf(stderr, "\r\033[K%.30s [%s] %3.0f%%  %.0f %s/s, %.0f s left",
		p->what, bar, 100 * share, rate, p->unit,
		rate > 0 ? (double)(p->total - done) / rate : 0);
}

void progress_end(struct progress *p)
{
	if (p->on)
		fputs("\r\033[K", stderr);
	p->on = false;
}
