/* SPDX-License-Identifier: BSD-2-Clause
 * Reading a mapped file that someone may cut (see guard.h).
 *
 * Programs install a SIGBUS handler of their own after ours, which may pass
 * faults on to the one it found, or put that one back. To go before it and yet
 * not be called by it in a circle, each time our handler is installed it is
 * another function: a level, with what it passes faults on to. */
#include "guard.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

__thread struct zr_guard *volatile zr_guard_current
	__attribute__((tls_model("initial-exec")));

#define LEVELS 64u

static const struct sigaction none = { .sa_handler = SIG_DFL };
static struct sigaction found[LEVELS]; /* written before the level is in use */
static _Atomic(const struct sigaction *) next[LEVELS];
static unsigned used;
static atomic_int installer; /* pid of who changes these, 0: nobody */

/* By default or ignored: the instruction runs again and ends the process as it
 * would have without us; a signal that was sent by kill must be sent again. */
static void pass_to_none(const struct sigaction *to, int sig, bool sent)
{
	if (to->sa_handler == SIG_IGN && sent)
		return;
	signal(sig, SIG_DFL);
	if (sent)
		raise(sig);
}

/* As the kernel would call it, with the signals blocked that it wants. */
static void pass_on(unsigned level, int sig, siginfo_t *info, void *context)
{
	const struct sigaction *to = atomic_load(&next[level]);
	sigset_t block = to->sa_mask, old;

	if (to->sa_handler == SIG_DFL || to->sa_handler == SIG_IGN) {
		pass_to_none(to, sig, info->si_code <= 0);
		return;
	}
	if (!(to->sa_flags & SA_NODEFER))
		sigaddset(&block, sig);
	/* The one flag that is negative as an int. */
	if ((unsigned)to->sa_flags & SA_RESETHAND)
		atomic_store(&next[level], &none);
	pthread_sigmask(SIG_BLOCK, &block, &old);
	if (to->sa_flags & SA_SIGINFO)
		to->sa_sigaction(sig, info, context);
	else
		to->sa_handler(sig);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void on_sigbus(unsigned level, int sig, siginfo_t *info, void *context)
{
	struct zr_guard *g = zr_guard_current;
	uintptr_t at = (uintptr_t)info->si_addr;

	if (g && info->si_code > 0 && at >= (uintptr_t)g->start &&
	    at - (uintptr_t)g->start < g->len) {
		zr_guard_current = NULL;
		siglongjmp(g->back, 1);
	}
	pass_on(level, sig, info, context);
}

#define LEVEL(n)                                                               \
	static void level_##n(int sig, siginfo_t *info, void *context)         \
	{                                                                      \
		on_sigbus(n, sig, info, context);                              \
	}
#define EIGHT(of, n) of(n##0) of(n##1) of(n##2) of(n##3) of(n##4) of(n##5) \
	of(n##6) of(n##7)
/* In octal. */
#define ALL(of)                                                                \
	EIGHT(of, 00) EIGHT(of, 01) EIGHT(of, 02) EIGHT(of, 03)                \
	EIGHT(of, 04) EIGHT(of, 05) EIGHT(of, 06) EIGHT(of, 07)
ALL(LEVEL)

#define ENTRY(n) level_##n,
static void (*const entry[LEVELS])(int, siginfo_t *, void *) = { ALL(ENTRY) };

static bool is_ours(const struct sigaction *act)
{
	if (act->sa_flags & SA_SIGINFO)
		for (unsigned i = 0; i < LEVELS; i++)
			if (act->sa_sigaction == entry[i])
				return true;
	return false;
}

/* The handler was over an older level before and may pass faults on to that one
 * now, which therefore must not pass them back. */
static void take_out(const struct sigaction *act, unsigned level)
{
	const struct sigaction *below = &none;

	for (unsigned i = 0; i < level; i++) {
		const struct sigaction *to = atomic_load(&next[i]);

		if (to && to->sa_handler == act->sa_handler)
			atomic_store(&next[i], below);
		else if (to)
			below = to;
	}
}

/* A level that passes on to what was found, or LEVELS if none is left: then the
 * program's handler stays the first, and may pass on to any of them. */
static unsigned level_for(const struct sigaction *act)
{
	bool handler =
		act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN;

	for (unsigned i = 0; !handler && i < used; i++) {
		const struct sigaction *to = atomic_load(&next[i]);

		if (to && to->sa_handler == act->sa_handler)
			return i;
	}
	if (handler)
		take_out(act, used);
	if (used == LEVELS)
		return LEVELS;
	found[used] = *act;
	atomic_store(&next[used], &found[used]);
	return used++;
}

/* A mutex would stay locked for ever in a child that was forked meanwhile; its
 * pid is another. Nobody needs a second here: an owner of the same pid is then
 * one of another PID namespace. */
static void begin(void)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	int self = getpid();

	for (int i = 0; i < 10000; i++) {
		int owner = atomic_load(&installer);

		if (owner != self && atomic_compare_exchange_strong(
					     &installer, &owner, self))
			return;
		nanosleep(&pause, NULL);
	}
	atomic_store(&installer, self);
}

static void end(void)
{
	atomic_store(&installer, 0);
}

/* Again if the program has put another handler there since it was looked at. */
static int install_over(struct sigaction *act)
{
	while (!is_ours(act)) {
		struct sigaction ours = {
			.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK
		};
		void (*looked_at)(int) = act->sa_handler;
		unsigned level = level_for(act);

		if (level == LEVELS)
			return 0;
		ours.sa_sigaction = entry[level];
		sigemptyset(&ours.sa_mask);
		if (sigaction(SIGBUS, &ours, act))
			return -errno;
		if (act->sa_handler == looked_at)
			return 0;
	}
	return 0;
}

int zr_guard_install(void)
{
	struct sigaction act;
	int rc;

	if (sigaction(SIGBUS, NULL, &act))
		return -errno;
	if (is_ours(&act))
		return 0;
	begin();
	rc = sigaction(SIGBUS, NULL, &act) ? -errno : install_over(&act);
	end();
	return rc;
}
