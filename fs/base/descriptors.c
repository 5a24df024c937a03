/* SPDX-License-Identifier: BSD-2-Clause
 * The descriptors that a process was started with.
 *
 * Not closefrom(3): it ends the process where the kernel has no close_range(2)
 * and /proc is missing. */
#include "descriptors.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* What the kernel allows a process, unless told otherwise (fs.nr_open). */
#define DESCRIPTORS_MAX (1 << 20)

int descriptor_in(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };

	for (size_t i = 0; i < 2; i++) {
		size_t len = strlen(folders[i]);
		unsigned long fd;
		char *end;

		if (strncmp(path, folders[i], len) != 0 ||
		    !strspn(path + len, "0123456789"))
			continue;
		fd = strtoul(path + len, &end, 10);
		if ((!*end || *end == '/') && fd <= INT_MAX)
			return (int)fd;
	}
	return -1;
}

static void close_between(int first, int last)
{
	struct rlimit limit;
	int end = DESCRIPTORS_MAX;

	if (!syscall(SYS_close_range, first, last, 0))
		return;
	if (!getrlimit(RLIMIT_NOFILE, &limit) &&
	    limit.rlim_cur < (rlim_t)DESCRIPTORS_MAX)
		end = (int)limit.rlim_cur;
	for (int fd = first; fd < end && fd <= last; fd++)
		close(fd);
}

void descriptors_close(int first, const int *keep, size_t n)
{
	for (;;) {
		int next = INT_MAX;

		for (size_t i = 0; i < n; i++) {
			if (keep[i] >= first && keep[i] < next)
				next = keep[i];
		}
		if (first < next)
			close_between(first, next - 1);
		if (next == INT_MAX)
			return;
		first = next + 1;
	}
}
