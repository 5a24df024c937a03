/* SPDX-License-Identifier: BSD-2-Clause
 * One line to whoever listens: stderr, later the log of the system.
 *
 * syslog(3) waits while the log is full, and for the driver to wait is for
 * every reader of the mount to hang; and it opens a socket when the log has
 * another, which the driver may not do any more (sandbox.h). */
#include "say.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE_MAX 1280
/* "<27>Dec  1 12:34:56 zrecordfs[1234567]: " */
#define HEAD_MAX 64

static int log_fd = -1;
static atomic_bool to_log;

void say_open_log(void)
{
	struct sockaddr_un log = { .sun_family = AF_UNIX,
				   .sun_path = _PATH_LOG };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	/* So that nobody looks for the time zone later. */
	tzset();
	if (fd >= 0 && connect(fd, (struct sockaddr *)&log, sizeof(log))) {
		close(fd);
		fd = -1;
	}
	log_fd = fd;
}

void say_to_log(void)
{
	to_log = true;
}

/* What syslog(3) puts in front, in its first place what the language of the
 * user has no part in. */
static size_t log_head(char head[static HEAD_MAX])
{
	static const char months[][4] = { "Jan", "Feb", "Mar", "Apr",
					  "May", "Jun", "Jul", "Aug",
					  "Sep", "Oct", "Nov", "Dec" };
	time_t now = time(NULL);
	struct tm t = { .tm_mday = 1 };

	localtime_r(&now, &t);
	return (size_t)snprintf(head, HEAD_MAX,
				"<%d>%s %2d %02d:%02d:%02d zrecordfs[%d]: ",
				LOG_DAEMON | LOG_ERR, months[t.tm_mon % 12],
				t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec,
				(int)getpid());
}

static size_t plain_head(char head[static HEAD_MAX])
{
	return (size_t)snprintf(head, HEAD_MAX, "zrecordfs: ");
}

void vsay(const char *format, va_list ap)
{
	char line[HEAD_MAX + MESSAGE_MAX];
	bool log = to_log;
	size_t head = log ? log_head(line) : plain_head(line), len;
	ssize_t ignored;
	int n = vsnprintf(line + head, MESSAGE_MAX - 1, format, ap);

	len = n < 0 ? 0 : n < MESSAGE_MAX - 1 ? (size_t)n : MESSAGE_MAX - 2;
	/* libfuse's lines have one. */
	while (len && line[head + len - 1] == '\n')
		len--;
	if (!log)
		line[head + len++] = '\n';
	/* Nobody is left to tell if it is not taken. */
	ignored = write(log ? log_fd : STDERR_FILENO, line, head + len);
	(void)ignored;
}

void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsay(format, ap);
	va_end(ap);
}
