/* SPDX-License-Identifier: BSD-2-Clause
 * Processes that do for the driver what it may no longer do itself. */
#include "helper.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "descriptors.h"
#include "say.h"

#define SOCKET (STDERR_FILENO + 1)

/* No file but `fd`, which becomes SOCKET: the session's would keep the mount
 * alive without a driver, the driver's pipe and terminal whoever waits for
 * it. */
static int close_others(int fd, bool keep_stderr)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0)
		return -1;
	for (int i = 0; i < STDERR_FILENO + !keep_stderr; i++) {
		if (dup2(null, i) < 0)
			return -1;
	}
	/* Beyond SOCKET, so that neither is in the way of the other. */
	fd = fcntl(fd, F_DUPFD, SOCKET + 1);
	if (fd < 0 || dup2(fd, SOCKET) < 0)
		return -1;
	descriptors_close(SOCKET + 1, NULL, 0);
	return 0;
}

int helper_start(pid_t *pid, const char *name, bool to_stderr,
		 void (*main)(int fd, void *arg), void *arg)
{
	char own[16] = "";
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	/* Never to be taken for the driver: it has the name before it runs. */
	prctl(PR_GET_NAME, own);
	prctl(PR_SET_NAME, name);
	*pid = fork();
	if (*pid)
		prctl(PR_SET_NAME, own);
	if (!*pid) {
		if (!to_stderr)
			setsid();
		if (close_others(fds[1], to_stderr) || chdir("/"))
			_exit(1);
		if (!to_stderr) {
			say_open_log();
			say_to_log();
		}
		main(SOCKET, arg);
		_exit(0);
	}
	close(fds[1]);
	if (*pid < 0) {
		int rc = -errno;

		close(fds[0]);
		return rc;
	}
	return fds[0];
}
