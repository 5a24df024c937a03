/* SPDX-License-Identifier: BSD-2-Clause
 * Signals that end the driver.
 *
 * fuse_session_exit wakes no thread of libfuse before 3.18. Unmounting does:
 * the kernel ends the connection once nobody uses the mount any more. */
#include "detach.h"

#include <errno.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"

/* Programs that end others send a signal to them and then to their group. */
#define ONE_SIGNAL_MS 500

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void *wait_for_signals(void *arg)
{
	struct detach *d = arg;
	int64_t first = 0;
	int sig;

	while (sigwait(&d->signals, &sig) == 0) {
		if (d->stop)
			return NULL;
		if (d->unmounted && now_ms() - first < ONE_SIGNAL_MS)
			continue;
		if (d->unmounted) {
			say("ended by a second signal: still in use");
			_exit(EXIT_SYSTEM);
		}
		first = now_ms();
		d->unmounted = unmounter_unmount(d->unmounter);
	}
	return NULL;
}

static void signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
}

void detach_block(void)
{
	sigset_t set;

	signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int detach_start(struct detach *d, struct unmounter *u)
{
	signals(&d->signals);
	d->unmounter = u;
	d->unmounted = false;
	d->stop = false;
	return -pthread_create(&d->thread, NULL, wait_for_signals, d);
}

void detach_stop(struct detach *d)
{
	d->stop = true;
	pthread_kill(d->thread, SIGTERM);
	pthread_join(d->thread, NULL);
}
