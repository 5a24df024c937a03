/* SPDX-License-Identifier: BSD-2-Clause
 * Waiting for the next request of the kernel: awake for a little while, since
 * to wake a thread costs more than to answer most requests.
 *
 * Then it sleeps in read(2), where the kernel wakes one thread for a request
 * and all for the end. */
#include "wait.h"

#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

/* Two times what waking costs: no client that is slower is worth it. */
#define AWAKE_NS 50000

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

ssize_t wait_read(int fd, void *buf, size_t len)
{
	static _Thread_local uint64_t last; /* how long the last wait was */
	struct pollfd request = { .fd = fd, .events = POLLIN };
	uint64_t start = now_ns();
	ssize_t n;

	/* Who waited long for the last one goes to sleep at once. The processor
	 * is for whoever else wants it. */
	while (last < AWAKE_NS && !poll(&request, 1, 0) &&
	       now_ns() - start < AWAKE_NS)
		sched_yield();
	n = read(fd, buf, len);
	last = now_ns() - start;
	return n;
}
