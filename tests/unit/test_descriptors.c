/* SPDX-License-Identifier: BSD-2-Clause
 * fs/base/descriptors.c: what a process was started with is closed. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptors.h"

#define CLOSE_RANGE 436
#define LAST 60

/* As a kernel before 5.9 answers it. */
static bool refuse_close_range(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLOSE_RANGE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = 4, .filter = code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) &&
	       syscall(CLOSE_RANGE, LAST + 1, LAST + 1, 0) && errno == ENOSYS;
}

/* Returns the exit status of a process of its own: the first descriptor that is
 * wrong, or 0. */
static int closed_but(const int *keep, size_t n, bool refused)
{
	pid_t pid = fork();
	int status;

	if (pid) {
		cr_assert(pid > 0 && waitpid(pid, &status, 0) == pid);
		cr_assert(WIFEXITED(status));
		return WEXITSTATUS(status);
	}
	for (int fd = 3; fd <= LAST; fd++)
		dup2(STDOUT_FILENO, fd);
	if (refused && !refuse_close_range())
		_exit(255);
	descriptors_close(3, keep, n);
	for (int fd = 3; fd <= LAST; fd++) {
		bool kept = false;

		for (size_t i = 0; i < n; i++)
			kept = kept || keep[i] == fd;
		if (kept != (fcntl(fd, F_GETFD) >= 0))
			_exit(fd);
	}
	_exit(fcntl(STDOUT_FILENO, F_GETFD) < 0);
}

Test(descriptors, are_closed_but_those_to_keep)
{
	static const int keep[] = { 12, -1, 7, LAST, 12, 3, 1000000 };

	for (int refused = 0; refused < 2; refused++) {
		cr_expect_eq(closed_but(NULL, 0, refused), 0);
		cr_expect_eq(closed_but(keep, 1, refused), 0);
		cr_expect_eq(closed_but(keep, 7, refused), 0);
	}
}

Test(descriptors, are_found_in_paths)
{
	static const struct {
		const char *path;
		int fd;
	} cases[] = {
		{ "/dev/fd/5", 5 },       { "/dev/fd/63/train.zr", 63 },
		{ "/proc/self/fd/0", 0 }, { "/proc/self/fd/12/x", 12 },
		{ "/dev/fd/", -1 },       { "/dev/fd/5x", -1 },
		{ "/dev/fd/-5", -1 },     { "/dev/fd/99999999999999999999", -1 },
		{ "dev/fd/5", -1 },       { "", -1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(descriptor_in(cases[i].path), cases[i].fd, "%s",
			     cases[i].path);
}
