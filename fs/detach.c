/* SPDX-License-Identifier: BSD-2-Clause
 * Signals that end the driver.
 *
 * fuse_session_exit wakes no thread of libfuse before 3.18. Unmounting does:
 * the kernel ends the connection once nobody uses the mount any more. */
#include "detach.h"

#include <errno.h>
#include <unistd.h>

#include "say.h"

static void *wait_for_signals(void *arg)
{
	struct detach *d = arg;
	int sig;

	while (sigwait(&d->signals, &sig) == 0) {
		if (d->stop)
			return NULL;
		if (d->unmounted) {
			say("ended by a second signal: still in use");
			_exit(EXIT_SYSTEM);
		}
		d->unmounted = unmounter_unmount(d->unmounter);
	}
	return NULL;
}

void detach_block(struct detach *d)
{
	sigemptyset(&d->signals);
	sigaddset(&d->signals, SIGTERM);
	sigaddset(&d->signals, SIGINT);
	sigaddset(&d->signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &d->signals, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int detach_start(struct detach *d, struct unmounter *u)
{
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
