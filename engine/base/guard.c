/* SPDX-License-Identifier: BSD-2-Clause
 * Reading a mapped file that someone may cut (see guard.h). */
#include "guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

__thread struct zr_guard *volatile zr_guard_current
	__attribute__((tls_model("initial-exec")));

static struct sigaction before; /* written once, before the handler is in */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int install_rc;

static void pass_on(int sig, siginfo_t *info, void *context)
{
	bool sent = info->si_code <= 0; /* by kill, not by an instruction */

	if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(sig, info, context);
	} else if (before.sa_handler == SIG_IGN && sent) {
		return;
	} else if (before.sa_handler == SIG_DFL ||
		   before.sa_handler == SIG_IGN) {
		/* The instruction runs again and ends the process as it
		 * would have without us; a signal that was sent must be sent
		 * again. */
		signal(sig, SIG_DFL);
		if (sent)
			raise(sig);
	} else {
		before.sa_handler(sig);
	}
}

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	struct zr_guard *g = zr_guard_current;
	uintptr_t at = (uintptr_t)info->si_addr;

	if (g && info->si_code > 0 && at >= (uintptr_t)g->start &&
	    at - (uintptr_t)g->start < g->len) {
		zr_guard_current = NULL;
		siglongjmp(g->back, 1);
	}
	pass_on(sig, info, context);
}

static void install(void)
{
	struct sigaction act;

	if (sigaction(SIGBUS, NULL, &before)) {
		install_rc = -errno;
		return;
	}
	act.sa_sigaction = on_sigbus;
	act.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
	sigemptyset(&act.sa_mask);
	if (sigaction(SIGBUS, &act, NULL))
		install_rc = -errno;
}

int zr_guard_install(void)
{
	pthread_once(&once, install);
	return install_rc;
}
