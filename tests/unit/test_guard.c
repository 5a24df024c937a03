/* SPDX-License-Identifier: BSD-2-Clause
 * Cut mapped files in a program that has SIGBUS handlers of its own: what is
 * ours is an error, all else goes to them, and each is called once. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "make.h"
#include "scratch.h"

enum { records = 64, words = 1024 };

static struct scratch s;
/* What open_cut made; a child's is gone with it. */
static struct zr_container *container[64];
static struct zr_reader *reader[64];
static atomic_uint opened;
/* Of the handlers below; in memory that a child shares. */
static volatile struct {
	int calls, wrong;
} *seen;
static struct sigaction before;
static sigjmp_buf back;

static void setup(void)
{
	scratch_make(&s);
	seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(seen != MAP_FAILED);
	/* A sanitizer's own would report what is meant to happen. */
	signal(SIGBUS, SIG_DFL);
}

static void teardown(void)
{
	for (unsigned i = 0; i < opened; i++) {
		zr_reader_free(reader[i]);
		zr_close(container[i]);
	}
	scratch_remove(&s);
}

TestSuite(guard, .init = setup, .fini = teardown, .timeout = 60);

/* A reader of a container whose data was cut after it was opened. */
static struct zr_reader *open_cut(const char *name)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	unsigned i = atomic_fetch_add(&opened, 1);
	char path[600], data[700];

	cr_assert(i < 64);
	/* Not scratch_path: threads call this. */
	snprintf(path, sizeof(path), "%s/%s", s.dir, name);
	snprintf(data, sizeof(data), "%s/data.zr", path);
	cr_assert(!make_container(path, ZR_RAW, records, words, NULL, NULL));
	opt.placement = ZR_PLACE_MAP;
	cr_assert(!zr_open(&container[i], path, &opt, NULL));
	cr_assert(!zr_reader_new(&reader[i], container[i], NULL));
	cr_assert(!truncate(data, 0));
	return reader[i];
}

static bool gives_eio(struct zr_reader *r)
{
	static _Thread_local int32_t items[words];

	return zr_read(r, 7, items, sizeof(items), NULL, NULL, NULL) == -EIO;
}

/* A mapping of the program's, not of the library's. */
static void fault(void)
{
	int fd = open(scratch_path(&s, "own"), O_RDWR | O_CREAT, 0600);
	volatile char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	(void)*p;
}

static void install(void (*handler)(int), int flags)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = flags };

	cr_assert(!sigaction(SIGBUS, &act, &before));
}

static int status_of(void (*fn)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		/* A circle of handlers ends, too late. */
		alarm(20);
		fn();
		_exit(0);
	}
	cr_assert(waitpid(pid, &status, 0) == pid);
	return status;
}

static void expect_end_by_sigbus(void (*fn)(void), int calls)
{
	int status = status_of(fn);

	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS,
		  "status %x", (unsigned)status);
	cr_expect(seen->calls == calls, "%d calls", seen->calls);
}

/* ---- Handlers */

static void jumps(int sig)
{
	(void)sig;
	seen->calls++;
	siglongjmp(back, 1);
}

static void strays(int sig)
{
	(void)sig;
	seen->wrong++;
	siglongjmp(back, 1);
}

static void chains(int sig)
{
	seen->calls++;
	if (before.sa_flags & SA_SIGINFO) {
		siginfo_t info = { .si_code = BUS_ADRERR };

		before.sa_sigaction(sig, &info, NULL);
	} else if (before.sa_handler != SIG_DFL) {
		before.sa_handler(sig);
	} else {
		signal(sig, SIG_DFL);
	}
}

static void restores(int sig)
{
	seen->calls++;
	sigaction(sig, &before, NULL);
}

static void returns(int sig)
{
	sigset_t now;

	(void)sig;
	seen->calls++;
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	seen->wrong += !sigismember(&now, SIGBUS);
}

/* ---- Tests */

Test(guard, an_open_goes_before_a_handler_that_came_later)
{
	struct zr_reader *first = open_cut("first"), *second;

	install(jumps, SA_NODEFER);
	second = open_cut("second");
	cr_expect(gives_eio(first) && gives_eio(second));
	cr_expect(seen->calls == 0);
	if (!sigsetjmp(back, 1))
		fault();
	cr_expect(seen->calls == 1, "the program's fault is the program's");
	cr_expect(gives_eio(first) && gives_eio(second));
	cr_expect(seen->calls == 1);
}

Test(guard, so_does_a_new_reader)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	struct zr_reader *r;
	struct zr_container *c;
	char data[700];

	cr_assert(!make_container(scratch_path(&s, "c"), ZR_RAW, records, words,
				  NULL, NULL));
	opt.placement = ZR_PLACE_MAP;
	cr_assert(!zr_open(&c, scratch_path(&s, "c"), &opt, NULL));
	install(jumps, SA_NODEFER);
	cr_assert(!zr_reader_new(&r, c, NULL));
	snprintf(data, sizeof(data), "%s/data.zr", scratch_path(&s, "c"));
	cr_assert(!truncate(data, 0));
	cr_expect(gives_eio(r));
	zr_reader_free(r);
	zr_close(c);
}

static void chain_once(void)
{
	open_cut("a");
	install(chains, SA_NODEFER);
	seen->wrong += !gives_eio(open_cut("b"));
	fault();
}

Test(guard, a_handler_that_chains_makes_no_circle)
{
	expect_end_by_sigbus(chain_once, 1);
	cr_expect(seen->wrong == 0);
}

/* Each is put over ours so often, which goes before it again while there are
 * levels. */
enum { levels = 64 };
static int times;

static struct zr_reader *another_reader(void)
{
	struct zr_reader *r;

	cr_assert(!zr_reader_new(&r, container[0], NULL));
	return r;
}

static bool another_gives_eio(void)
{
	struct zr_reader *r = another_reader();
	bool good = gives_eio(r);

	zr_reader_free(r);
	return good;
}

/* Not over itself, which is a circle without ours. */
static void install_first(void (*handler)(int), int flags)
{
	struct sigaction now;

	sigaction(SIGBUS, NULL, &now);
	if (now.sa_handler != handler)
		install(handler, flags);
}

static void put_over_ours(void (*handler)(int), int flags)
{
	for (int i = 0; i < times; i++) {
		install_first(handler, flags);
		zr_reader_free(another_reader());
	}
	if (times < levels)
		seen->wrong += !another_gives_eio();
	fault();
}

static void chain_often(void)
{
	put_over_ours(chains, SA_NODEFER);
}

static void restore_often(void)
{
	put_over_ours(restores, 0);
}

static void expect_one_call(void (*fn)(void))
{
	open_cut("c");
	for (times = 1; times <= 2 * levels; times += times < 20 ? 1 : 11) {
		seen->calls = 0;
		expect_end_by_sigbus(fn, 1);
		cr_expect(seen->wrong == 0, "%d times", times);
	}
}

Test(guard, nor_does_one_that_was_put_over_ours_again_and_again)
{
	expect_one_call(chain_often);
}

Test(guard, nor_does_one_that_puts_back_what_it_found)
{
	expect_one_call(restore_often);
}

static void reset(void)
{
	install(returns, (int)SA_RESETHAND);
	open_cut("a");
	fault();
}

Test(guard, one_for_a_single_signal_is_called_for_one)
{
	expect_end_by_sigbus(reset, 1);
	cr_expect(seen->wrong == 0, "SIGBUS is blocked in a handler");
}

static void by_default(void)
{
	open_cut("a");
	signal(SIGBUS, SIG_DFL);
	seen->wrong += !gives_eio(open_cut("b"));
	fault();
}

Test(guard, faults_and_signals_end_the_process_by_default)
{
	expect_end_by_sigbus(by_default, 0);
	cr_expect(seen->wrong == 0);
}

static void ignored(void)
{
	signal(SIGBUS, SIG_IGN);
	seen->wrong += !gives_eio(open_cut("a"));
	raise(SIGBUS);
	seen->calls++;
	fault();
}

Test(guard, a_signal_that_is_ignored_is_and_a_fault_is_not)
{
	expect_end_by_sigbus(ignored, 1);
	cr_expect(seen->wrong == 0);
}

/* Beyond the levels there are the program's handler stays the first. */
Test(guard, any_number_of_changes)
{
	static int i; /* a jump leaves it as it is */

	open_cut("c");
	for (i = 0; i < 80; i++) {
		install(i % 2 ? strays : jumps, SA_NODEFER);
		signal(SIGBUS, i % 3 ? SIG_DFL : SIG_IGN);
		install(i % 2 ? jumps : strays, SA_NODEFER);
		if (i < levels - 1)
			cr_expect(another_gives_eio(), "%d", i);
		else
			zr_reader_free(another_reader());
		seen->calls = seen->wrong = 0;
		if (!sigsetjmp(back, 1))
			fault();
		cr_expect(seen->calls == i % 2 && seen->wrong == !(i % 2),
			  "%d: %d, %d calls", i, seen->calls, seen->wrong);
	}
}

static void in_child(void)
{
	install(jumps, SA_NODEFER);
	seen->wrong += !gives_eio(open_cut("child"));
}

Test(guard, in_a_child_too)
{
	open_cut("parent");
	cr_expect(status_of(in_child) == 0);
	cr_expect(seen->wrong == 0 && seen->calls == 0);
}

/* The library's too: a call that takes as long as one of a thread that is
 * preempted, which otherwise is rare. */
static atomic_bool slow;

int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	int (*real)(int, const struct sigaction *, struct sigaction *);
	static atomic_uint calls;

	*(void **)&real = dlsym(RTLD_NEXT, "sigaction");
	if (slow && sig == SIGBUS && act)
		usleep(atomic_fetch_add(&calls, 1) * 37 % 100);
	return real(sig, act, old);
}

/* Installers that begin at once. */
enum { installers = 4, rounds = 7 };
static atomic_int here;

static void *install_in_thread(void *arg)
{
	(void)arg;
	atomic_fetch_add(&here, 1);
	while (atomic_load(&here) % (installers + 1))
		sched_yield();
	return another_gives_eio() ? &here : NULL;
}

/* Forked while another thread may be at it, which is not there then. */
static void expect_good_child(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		alarm(20);
		atomic_store(&here, -1);
		_exit(!install_in_thread(NULL));
	}
	seen->wrong += waitpid(pid, &status, 0) != pid || status;
}

static void install_by_several(void)
{
	pthread_t thread[installers];
	static int round; /* a jump leaves it as it is */

	slow = true;
	for (round = 1; round <= rounds; round++) {
		install(jumps, SA_NODEFER);
		for (int i = 0; i < installers; i++)
			pthread_create(&thread[i], NULL, install_in_thread,
				       NULL);
		while (atomic_load(&here) % (installers + 1) != installers)
			sched_yield();
		atomic_fetch_add(&here, 1);
		if (round == 1) {
			usleep(50);
			expect_good_child();
		}
		for (int i = 0; i < installers; i++) {
			void *good;

			pthread_join(thread[i], &good);
			seen->wrong += !good;
		}
		if (!sigsetjmp(back, 1))
			fault();
		seen->wrong += seen->calls != round;
	}
}

Test(guard, by_several_threads)
{
	open_cut("c");
	for (int i = 0; i < 200; i++) {
		seen->calls = 0;
		cr_assert(status_of(install_by_several) == 0, "%d", i);
		cr_assert(seen->wrong == 0, "%d", i);
	}
}
