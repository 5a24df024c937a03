/* SPDX-License-Identifier: BSD-2-Clause
 * How far ahead of a reader the kernel reads. */
#include "readahead.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned present(int fd)
{
	char text[32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	return (unsigned)strtoul(text, NULL, 10);
}

int readahead_open(const unsigned device[static 2])
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "/sys/class/bdi/%u:%u/read_ahead_kb",
		 device[0], device[1]);
	fd = open(name, O_RDWR | O_CLOEXEC);
	return fd < 0 ? open(name, O_RDONLY | O_CLOEXEC) : fd;
}

unsigned readahead_set(int fd, unsigned kib)
{
	char window[16];
	int len = snprintf(window, sizeof(window), "%u", kib);
	unsigned now;
	ssize_t wrote;

	if (fd < 0)
		return 0;
	/* Whether it took it shows when it is read. */
	wrote = kib ? write(fd, window, (size_t)len) : 0;
	(void)wrote;
	now = present(fd);
	close(fd);
	return now;
}
