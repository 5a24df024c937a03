/* SPDX-License-Identifier: BSD-2-Clause
 * What every benchmark needs: the time, an end, a container that is cold or
 * gone. */
#ifndef BENCH_H
#define BENCH_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Seconds from some moment on. */
static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline _Noreturn void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
	exit(1);
}

/* Drop the data of the container `path` from the page cache. */
static inline void drop_data(const char *path)
{
	char name[4096];
	int fd;

	snprintf(name, sizeof(name), "%s/data.zr", path);
	fd = open(name, O_RDONLY);
	if (fd < 0 || fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		die("cannot drop the data from the page cache");
	close(fd);
}

static inline void remove_container(const char *path)
{
	static const char *const names[] = { "data.zr", "meta.zr", "check.zr",
					     "dict.zr" };
	char name[4200];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(name, sizeof(name), "%s/%s", path, names[i]);
		unlink(name);
	}
	rmdir(path);
}

#endif
