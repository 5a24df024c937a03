/* SPDX-License-Identifier: BSD-2-Clause
 * Waiting for the next request of the kernel. */
#ifndef ZRFS_WAIT_H
#define ZRFS_WAIT_H

#include <sys/types.h>

/* Make reads of `fd` return at once, and store in *sleep a descriptor for
 * wait_read to sleep on. Returns 0 or a negative errno. */
int wait_start(int fd, int *sleep);

/* Like read(2) of a descriptor that blocks. Any number of threads; a request
 * wakes one of them. */
ssize_t wait_read(int fd, int sleep, void *buf, size_t len);

#endif
