/* SPDX-License-Identifier: BSD-2-Clause
 * A progress bar on standard error, if that is a terminal. */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "screen.h"

#define BAR 24 /* columns */
#define BAR_MIN 8
#define NAME 30
#define NAME_MIN 8
#define COLUMNS 80 /* of a terminal that does not say */
#define LINE 512
#define NUMBERS 128

/* One bar is shown at a time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool end; /* under lock */

static double since(const struct timespec *a)
{
	struct timespec b;

	clock_gettime(CLOCK_MONOTONIC, &b);
	return (double)(b.tv_sec - a->tv_sec) +
	       1e-9 * (double)(b.tv_nsec - a->tv_nsec);
}

/* Bytes of the character at `s`, and its columns: what is not UTF-8 is one, and
 * from Hangul on all are taken for wide, which costs room and never wraps. */
static size_t character(const char *s, int *columns)
{
	unsigned char c = (unsigned char)*s;
	size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;

	*columns = 1;
	for (size_t i = 1; i < n; i++)
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 1;
	if (n == 4 || (n == 3 && (c > 0xe1 || (unsigned char)s[1] >= 0x84)))
		*columns = 2;
	return n;
}

/* Append as much of `s` as `most` columns hold; returns how many it took. */
static int put_name(char *line, size_t size, const char *s, int most)
{
	size_t at = strlen(line);
	int used = 0;

	while (*s) {
		int columns;
		size_t n = character(s, &columns);

		if (used + columns > most || at + n + 1 > size)
			break;
		/* Neither control characters nor broken ones reach it. */
		if (n == 1 && ((unsigned char)*s < 0x20 || *s & 0x80 ||
			       *s == 0x7f))
			line[at++] = '?';
		else
			for (size_t i = 0; i < n; i++)
				line[at++] = s[i];
		s += n;
		used += columns;
	}
	line[at] = '\0';
	return used;
}

static void put_bar(char *line, size_t size, int columns, double share)
{
	size_t at = strlen(line);
	int filled = (int)(share * columns);

	if (at + (size_t)columns + 4 > size)
		return;
	line[at++] = ' ';
	line[at++] = '[';
	for (int i = 0; i < columns; i++)
		line[at++] = i < filled ? '#' : '.';
	line[at++] = ']';
	line[at] = '\0';
}

/* The share first, then the time left, the rate, the name, the bar: what does
 * not fit is left out from its end. */
void progress_line(char *line, size_t size, int columns, const char *what,
		   const char *unit, uint64_t done, uint64_t total, double t)
{
	double rate = t > 0 ? (double)done / t : 0, share = 1;
	double left = rate > 0 && total > done ? (double)(total - done) / rate
					       : 0;
	char tail[NUMBERS] = "", numbers[3][NUMBERS] = { "" };
	int used, room;

	if (total) {
		int percent;

		share = done < total ? (double)done / (double)total : 1;
		percent = (int)(100 * share);
		snprintf(numbers[2], NUMBERS, " %3d%%", percent);
		snprintf(numbers[1], NUMBERS, " %3d%%  %.0f s left", percent,
			 left);
		snprintf(numbers[0], NUMBERS, " %3d%%  %.0f %s/s, %.0f s left",
			 percent, rate, unit, left);
	} else if (done) {
		snprintf(numbers[0], NUMBERS, ": %llu %s, %.0f/s",
			 (unsigned long long)done, unit, rate);
	} else {
		snprintf(numbers[0], NUMBERS, ": %s, %.0f s", unit, t);
	}
	for (int i = 0; i < 3 && !tail[0]; i++)
		if ((int)strlen(numbers[i]) + (i < 2 ? NAME_MIN : 0) <= columns)
			strcpy(tail, numbers[i]);
	line[0] = '\0';
	room = columns - (int)strlen(tail);
	used = put_name(line, size, what, room < NAME ? room : NAME);
	room = columns - used - (int)strlen(tail) - 3;
	if (total && room >= BAR_MIN)
		put_bar(line, size, room < BAR ? room : BAR, share);
	if (strlen(line) + strlen(tail) < size)
		strcat(line, tail);
}

static int terminal_columns(void)
{
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || !w.ws_col)
		return COLUMNS;
	return w.ws_col;
}

/* Asked for its width each time: it may have another by now. The last column
 * stays free, since some terminals wrap when it is written. */
static void draw(struct progress *p)
{
	char line[LINE];

	progress_line(line, sizeof(line), terminal_columns() - 1, p->what,
		      p->unit, atomic_load(&p->done), p->total,
		      since(&p->start));
	screen_draw(line);
}

static void *drawing(void *arg)
{
	struct progress *p = arg;
	struct timespec next;

	pthread_mutex_lock(&lock);
	while (!end) {
		clock_gettime(CLOCK_MONOTONIC, &next);
		next.tv_nsec += 200000000;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		while (!end && !pthread_cond_timedwait(&ended, &lock, &next))
			;
		if (end)
			break;
		/* Writing to a terminal may take long. */
		pthread_mutex_unlock(&lock);
		draw(p);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void init(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&ended, &attr);
	pthread_condattr_destroy(&attr);
}

void progress_start(struct progress *p, const char *what, const char *unit,
		    uint64_t total)
{
	const char *slash = strrchr(what, '/');

	p->what = slash && slash[1] ? slash + 1 : what;
	p->unit = unit;
	p->total = total;
	atomic_init(&p->done, 0);
	clock_gettime(CLOCK_MONOTONIC, &p->start);
	pthread_once(&once, init);
	end = false;
	p->on = !cli_quiet && isatty(STDERR_FILENO) &&
		!pthread_create(&p->thread, NULL, drawing, p);
}

void progress_busy(struct progress *p, const char *what, const char *doing)
{
	progress_start(p, what, doing, 0);
}

void progress_at(struct progress *p, uint64_t done)
{
	atomic_store_explicit(&p->done, done, memory_order_relaxed);
}

void progress_end(struct progress *p)
{
	if (!p->on)
		return;
	pthread_mutex_lock(&lock);
	end = true;
	pthread_cond_broadcast(&ended);
	pthread_mutex_unlock(&lock);
	pthread_join(p->thread, NULL);
	screen_clear();
	p->on = false;
}
