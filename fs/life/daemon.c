/* SPDX-License-Identifier: BSD-2-Clause
 * Going to the background without hiding what goes wrong there. */
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/say.h"

int daemon_stdio(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
		if (fd < 0)
			return -1;
	} while (fd <= STDERR_FILENO);
	return close(fd);
}

static _Noreturn void wait_for_child(int fd, pid_t child)
{
	unsigned char status;
	ssize_t n;
	int how = 0;

	do {
		n = read(fd, &status, 1);
	} while (n < 0 && errno == EINTR);
	if (n == 1)
		_exit(status);
	if (waitpid(child, &how, 0) == child && WIFSIGNALED(how))
		say("the driver was killed by signal %d before it was ready",
		    WTERMSIG(how));
	else
		say("the driver ended before it was ready");
	_exit(EXIT_SYSTEM);
}

int daemon_start(struct daemon *d, bool foreground, const int keep[static 2])
{
	int fds[2], kept[3] = { keep[0], keep[1], -1 };
	pid_t child;

	d->pipe = -1;
	if (foreground)
		return 0;
	if (pipe2(fds, O_CLOEXEC)) {
		say("pipe: %s", strerror(errno));
		return EXIT_SYSTEM;
	}
	child = fork();
	if (child < 0) {
		say("fork: %s", strerror(errno));
		close(fds[0]);
		close(fds[1]);
		return EXIT_SYSTEM;
	}
	if (child) {
		close(fds[1]);
		wait_for_child(fds[0], child);
	}
	close(fds[0]);
	/* Who was told to end while this opens a container wants no mount. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	kept[2] = fds[1];
	descriptors_close(STDERR_FILENO + 1, kept, 3);
	say_open_log();
	d->pipe = fds[1];
	d->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (d->null >= 0)
		return 0;
	say("/dev/null: %s", strerror(errno));
	daemon_failed(d, EXIT_SYSTEM);
	return EXIT_SYSTEM;
}

void daemon_mounted(struct daemon *d)
{
	if (d->pipe < 0)
		return;
	setsid();
	prctl(PR_SET_PDEATHSIG, 0);
}

static int report(struct daemon *d, int status)
{
	unsigned char byte = (unsigned char)status;
	ssize_t n;

	if (d->pipe < 0)
		return 0;
	n = write(d->pipe, &byte, 1);
	close(d->pipe);
	d->pipe = -1;
	return n == 1 ? 0 : -1;
}

int daemon_ready(struct daemon *d)
{
	if (d->pipe < 0)
		return 0;
	/* Before the report: whoever waits for the end of our output must not
	 * wait for the end of the mount. */
	if (chdir("/"))
		return -1;
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (dup2(d->null, fd) < 0)
			return -1;
	}
	close(d->null);
	say_to_log();
	return report(d, EXIT_DONE);
}

void daemon_failed(struct daemon *d, int status)
{
	(void)report(d, status);
}
