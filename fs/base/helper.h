/* SPDX-License-Identifier: BSD-2-Clause
 * Processes that do for the driver what it may no longer do itself. They have
 * none of its files, and a socket to it. */
#ifndef HELPER_H
#define HELPER_H

#include <stdbool.h>
#include <sys/types.h>

/* Start one, before there are threads, that calls main(fd, arg) and exits; its
 * end of the socket is readable when the driver has ended. It shows as `name`
 * and keeps stderr if `to_stderr`. Returns the driver's end, or a negative errno. */
int helper_start(pid_t *pid, const char *name, bool to_stderr,
		 void (*main)(int fd, void *arg), void *arg);

#endif
