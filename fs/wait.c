/* SPDX-License-Identifier: BSD-2-Clause
 * Waiting for the next request of the kernel: awake for a little while, since
 * to wake a thread costs more than to answer most requests. */
#include "wait.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <sys/epoll.h>
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

int wait_start(int fd, int *sleep)
{
	struct epoll_event event = { .events = EPOLLIN };
	int flags = fcntl(fd, F_GETFL), rc;

	*sleep = epoll_create1(EPOLL_CLOEXEC);
	if (*sleep >= 0 && flags >= 0 &&
	    !epoll_ctl(*sleep, EPOLL_CTL_ADD, fd, &event) &&
	    !fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return 0;
	rc = -errno;
	if (*sleep >= 0)
		close(*sleep);
	*sleep = -1;
	return rc;
}

ssize_t wait_read(int fd, int sleep, void *buf, size_t len)
{
	static _Thread_local uint64_t last; /* how long the last wait was */
	struct epoll_event event;
	uint64_t start;
	ssize_t n = read(fd, buf, len);

	if (sleep < 0 || n >= 0 || errno != EAGAIN) {
		last = 0;
		return n;
	}
	start = now_ns();
	do {
		/* Who waited long for the last one goes to sleep at once. The
		 * processor is for whoever else wants it. */
		if (last < AWAKE_NS && now_ns() - start < AWAKE_NS)
			sched_yield();
		else if (epoll_wait(sleep, &event, 1, -1) < 0)
			return -1;
		n = read(fd, buf, len);
	} while (n < 0 && errno == EAGAIN);
	last = now_ns() - start;
	return n;
}
