/* SPDX-License-Identifier: BSD-2-Clause
 * A file without a name. */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define IN_MEMORY ((uint64_t)16 << 20)

static const char *folder(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

static int failed(const char *name)
{
	return cli_fail("%s: keeping it in %s until it is read: %s; set TMPDIR "
			"to a folder with room",
			name, folder(), strerror(errno));
}

/* Not every file system has O_TMPFILE. */
static int named_and_removed(void)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/zrecord.XXXXXX", folder()) < 0)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

int spool_open(const char *name, uint64_t bytes)
{
	int fd = -1;

	if (bytes && bytes <= IN_MEMORY)
		fd = memfd_create("zrecord", MFD_CLOEXEC);
	if (fd < 0)
		fd = open(folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		fd = named_and_removed();
	if (fd < 0)
		failed(name);
	return fd;
}

int spool_write(int fd, const char *name, const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return failed(name);
		p += n;
		len -= (size_t)n;
	}
	return CLI_OK;
}
