/* SPDX-License-Identifier: BSD-2-Clause
 * Runs on a shared budget of threads. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/executor.h"

enum { tasks = 10000 };

struct seen {
	atomic_uint times[tasks];
	atomic_uint lane_busy[16];
	atomic_uint clashes;
};

static void see(void *ctx, unsigned lane, size_t task)
{
	struct seen *s = ctx;

	if (atomic_fetch_add(&s->lane_busy[lane], 1))
		atomic_fetch_add(&s->clashes, 1);
	atomic_fetch_add(&s->times[task], 1);
	atomic_fetch_sub(&s->lane_busy[lane], 1);
}

static void expect_each_once(const struct seen *s, const char *what)
{
	for (size_t i = 0; i < tasks; i++)
		cr_assert(s->times[i] == 1, "%s: task %zu ran %u times", what,
			  i, s->times[i]);
	cr_expect(s->clashes == 0, "%s: a lane ran two tasks at once", what);
}

Test(executor, runs_each_task_once_on_any_number_of_threads)
{
	for (unsigned threads = 0; threads <= 8; threads++) {
		struct seen s = { 0 };
		struct zr_executor *ex;

		cr_assert(zr_executor_new(&ex, threads) == 0);
		cr_expect(zr_executor_threads(ex) >= 1);
		zr_executor_run(ex, tasks, see, &s);
		zr_executor_run(ex, 0, see, &s);
		expect_each_once(&s, "run");
		zr_executor_free(ex);
	}
}

Test(executor, none_means_the_caller)
{
	struct seen s = { 0 };

	cr_expect(zr_executor_threads(NULL) == 1);
	zr_executor_run(NULL, tasks, see, &s);
	expect_each_once(&s, "caller");
	zr_executor_free(NULL);
}

Test(executor, refuses_absurd_budgets)
{
	struct zr_executor *ex;

	cr_expect(zr_executor_new(&ex, 4097) == -EINVAL);
	cr_expect(ex == NULL);
}

static void *many_runs(void *arg)
{
	struct zr_executor *ex = arg;

	for (int i = 0; i < 20; i++) {
		struct seen *s = calloc(1, sizeof(*s));

		zr_executor_run(ex, tasks, see, s);
		expect_each_once(s, "shared");
		free(s);
	}
	return NULL;
}

Test(executor, is_shared_by_callers)
{
	struct zr_executor *ex;
	pthread_t t[8];

	cr_assert(zr_executor_new(&ex, 3) == 0);
	for (int i = 0; i < 8; i++)
		cr_assert(pthread_create(&t[i], NULL, many_runs, ex) == 0);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	zr_executor_free(ex);
}

Test(executor, works_in_a_forked_child)
{
	static struct seen before, s;
	struct zr_executor *ex;
	int status;
	pid_t pid;

	cr_assert(zr_executor_new(&ex, 4) == 0);
	zr_executor_run(ex, tasks, see, &before);
	pid = fork();
	if (pid == 0) {
		alarm(20);
		zr_executor_run(ex, tasks, see, &s);
		for (size_t i = 0; i < tasks; i++)
			if (s.times[i] != 1)
				_exit(1);
		zr_executor_free(ex);
		_exit(0);
	}
	cr_assert(waitpid(pid, &status, 0) == pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	zr_executor_free(ex);
}

Test(executor, is_warm_for_a_moment_only)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	struct zr_executor *ex;
	bool warm = false;

	cr_assert(zr_executor_new(&ex, 2) == 0);
	cr_expect(!zr_executor_warm(ex), "nothing ran yet");
	/* Others may take the CPU between the two calls. */
	for (int i = 0; i < 1000 && !warm; i++) {
		zr_executor_touch(ex);
		warm = zr_executor_warm(ex);
	}
	cr_expect(warm);
	nanosleep(&moment, NULL);
	cr_expect(!zr_executor_warm(ex));
	zr_executor_touch(NULL);
	zr_executor_free(ex);
}
