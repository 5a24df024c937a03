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

static _Noreturn void end(enum unmounted mount)
{
	if (mount == UNMOUNT_DONE)
		say("ended by a second signal: still in use");
	else
		say("ended by a second signal: the mount stays%s",
		    mount == UNMOUNT_COVERED
			    ? " as long as what is mounted over it"
			    : ", and is dead: run fusermount3 -u");
	_exit(EXIT_SYSTEM);
}

/* Wait for a signal, or while there is something else to look at, a little. */
static int next_signal(const struct detach *d, bool pending)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	return pending ? sigtimedwait(&d->signals, NULL, &pause)
		       : sigwaitinfo(&d->signals, NULL);
}

static void *wait_for_signals(void *arg)
{
	struct detach *d = arg;
	enum unmounted mount = UNMOUNT_DONE;
	bool second = false;
	int64_t first = 0;

	while (!d->stop) {
		int sig = next_signal(d, mount == UNMOUNT_PENDING);

		if (sig < 0 && mount == UNMOUNT_PENDING)
			mount = unmounter_answer(d->unmounter, 0);
		if (second && mount != UNMOUNT_PENDING)
			end(mount);
		if (sig < 0 || d->stop)
			continue;
		if (d->signalled && now_ms() - first < ONE_SIGNAL_MS)
			continue;
		second = d->signalled;
		if (second && (mount == UNMOUNT_DONE || mount == UNMOUNT_PENDING))
			end(mount);
		/* The first; or the last try. */
		d->signalled = true;
		first = now_ms();
		unmounter_ask(d->unmounter);
		mount = UNMOUNT_PENDING;
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
	d->signalled = false;
	d->stop = false;
	return -pthread_create(&d->thread, NULL, wait_for_signals, d);
}

void detach_stop(struct detach *d)
{
	d->stop = true;
	pthread_kill(d->thread, SIGTERM);
	pthread_join(d->thread, NULL);
}
