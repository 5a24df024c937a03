/* SPDX-License-Identifier: BSD-2-Clause
 * Waiting for the next request of the kernel. */
#ifndef ZRFS_WAIT_H
#define ZRFS_WAIT_H

#include <sys/types.h>

/* read(2) of the session's descriptor. Any number of threads; a request wakes
 * one of them. */
ssize_t wait_read(int fd, void *buf, size_t len);

#endif
