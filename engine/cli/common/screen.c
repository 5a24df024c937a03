/* SPDX-License-Identifier: BSD-2-Clause
 * Standard error: messages, and a bar that is drawn on the last line. */
#include "screen.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ERASE "\r\033[K"
/* Others are in the middle of a line no longer than that, or the terminal is
 * stopped. */
#define LEAVE_NS 50000000L

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool drawn; /* under lock */

/* There is nobody to tell that it failed. */
static void put(const char *text)
{
	size_t len = strlen(text);

	while (len) {
		ssize_t n = write(STDERR_FILENO, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return;
		text += n;
		len -= (size_t)n;
	}
}

static void replace(const char *text, bool draw)
{
	char all[SCREEN_LINE + sizeof(ERASE)];

	pthread_mutex_lock(&lock);
	snprintf(all, sizeof(all), "%s%s", drawn || draw ? ERASE : "", text);
	drawn = draw;
	put(all);
	pthread_mutex_unlock(&lock);
}

void screen_line(const char *line)
{
	replace(line, false);
}

void screen_draw(const char *text)
{
	replace(text, true);
}

void screen_clear(void)
{
	replace("", false);
}

void screen_leave(void)
{
	struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += LEAVE_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	if (pthread_mutex_timedlock(&lock, &until))
		return;
	if (drawn && poll(&out, 1, 0) > 0 && out.revents & POLLOUT)
		put(ERASE);
}
