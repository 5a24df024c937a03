/* SPDX-License-Identifier: BSD-2-Clause
 * Whole reads and writes: interrupted and short calls go on. */
#include "io.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

/* Linux moves no more in one call; asking for more is a short count. */
#define CALL_MAX ((size_t)0x7ffff000)

int zr_pread(int fd, void *buf, size_t len, uint64_t off)
{
	unsigned char *p = buf;

	while (len) {
		size_t want = len < CALL_MAX ? len : CALL_MAX;
		ssize_t n = pread(fd, p, want, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ENODATA;
		p += n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int zr_pwrite(int fd, const void *buf, size_t len, uint64_t off)
{
	const unsigned char *p = buf;

	while (len) {
		size_t want = len < CALL_MAX ? len : CALL_MAX;
		ssize_t n = pwrite(fd, p, want, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		p += n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* Drop the first `done` bytes of an iovec. */
static void advance(struct iovec **iov, size_t *count, size_t done)
{
	while (*count && done >= (*iov)->iov_len) {
		done -= (*iov)->iov_len;
		(*iov)++;
		(*count)--;
	}
	if (*count) {
		(*iov)->iov_base = (char *)(*iov)->iov_base + done;
		(*iov)->iov_len -= done;
	}
}

int zr_pwritev(int fd, struct iovec *iov, size_t count, uint64_t off)
{
	advance(&iov, &count, 0);
	while (count) {
		int some = count < IOV_MAX ? (int)count : IOV_MAX;
		ssize_t n = pwritev(fd, iov, some, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		off += (uint64_t)n;
		advance(&iov, &count, (size_t)n);
	}
	return 0;
}

int zr_sync(int fd)
{
	if (!fsync(fd))
		return 0;
	switch (errno) {
	case EINVAL:
	case ENOSYS:
	case EOPNOTSUPP:
	case ENOTTY:
	case EROFS:
	case EBADF: /* some take a directory for a file not open to write */
	case EISDIR:
	case EACCES:
	case EPERM:
		return 0;
	default:
		return -errno;
	}
}
