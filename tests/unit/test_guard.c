/* SPDX-License-Identifier: BSD-2-Clause
 * Cut mapped files in a program that has SIGBUS handlers of its own: what is
 * ours is an error, all else goes to them, and each is called once. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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

static void chain_often(void)
{
	char name[16];

	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		seen->wrong += !gives_eio(open_cut(name));
		install(chains, SA_NODEFER);
	}
	seen->wrong += !gives_eio(open_cut("last"));
	fault();
}

Test(guard, nor_does_one_that_was_put_over_ours_again_and_again)
{
	expect_end_by_sigbus(chain_often, 1);
	cr_expect(seen->wrong == 0);
}

static void restore(void)
{
	open_cut("a");
	install(restores, 0);
	open_cut("b");
	fault();
}

Test(guard, nor_does_one_that_puts_back_what_it_found)
{
	expect_end_by_sigbus(restore, 1);
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

/* Beyond the levels there are reads are still safe, and nothing hangs. */
Test(guard, any_number_of_changes)
{
	char name[16];

	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		cr_expect(gives_eio(open_cut(name)));
		install(i % 2 ? jumps : returns, SA_NODEFER);
		signal(SIGBUS, i % 3 ? SIG_DFL : SIG_IGN);
		install(i % 2 ? returns : jumps, SA_NODEFER);
	}
	cr_expect(gives_eio(open_cut("last")));
	cr_expect(seen->calls == 0);
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

static void *open_in_thread(void *name)
{
	return (void *)(uintptr_t)gives_eio(open_cut(name));
}

Test(guard, by_several_threads)
{
	static char names[8][4] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	pthread_t thread[8];
	void *good;

	open_cut("first");
	install(jumps, SA_NODEFER);
	for (int i = 0; i < 8; i++)
		cr_assert(!pthread_create(&thread[i], NULL, open_in_thread,
					  names[i]));
	for (int i = 0; i < 8; i++) {
		pthread_join(thread[i], &good);
		cr_expect(good, "thread %d", i);
	}
	if (!sigsetjmp(back, 1))
		fault();
	cr_expect(seen->calls == 1);
}
