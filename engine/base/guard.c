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

__thread struct zr_guard *volatile zr_guard_current
	__attribute__((tls_model("initial-exec")));

#define LEVELS 8u

static const struct sigaction none = { .sa_handler = SIG_DFL };
static struct sigaction found[LEVELS]; /* written before the level is in use */
static _Atomic(const struct sigaction *) next[LEVELS];
static atomic_uint used;

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
LEVEL(0)
LEVEL(1)
LEVEL(2)
LEVEL(3)
LEVEL(4)
LEVEL(5)
LEVEL(6)
LEVEL(7)

static void (*const entry[LEVELS])(int, siginfo_t *, void *) = {
	level_0, level_1, level_2, level_3, level_4, level_5, level_6, level_7
};

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

/* A level that passes on to what was found. With none left: the last, which
 * passes on as it did. No lock: a child of fork may need it. */
static unsigned level_for(const struct sigaction *act)
{
	bool handler =
		act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN;
	unsigned level = 0, count = atomic_load(&used);

	for (; !handler && level < count && level < LEVELS; level++) {
		const struct sigaction *to = atomic_load(&next[level]);

		if (to && to->sa_handler == act->sa_handler)
			return level;
	}
	level = atomic_fetch_add(&used, 1);
	if (level >= LEVELS) {
		atomic_store(&used, LEVELS);
		return LEVELS - 1;
	}
	found[level] = *act;
	if (handler)
		take_out(act, level);
	atomic_store(&next[level], &found[level]);
	return level;
}

int zr_guard_install(void)
{
	struct sigaction act;

	if (sigaction(SIGBUS, NULL, &act))
		return -errno;
	if (is_ours(&act))
		return 0;
	act.sa_sigaction = entry[level_for(&act)];
	act.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
	sigemptyset(&act.sa_mask);
	return sigaction(SIGBUS, &act, NULL) ? -errno : 0;
}
