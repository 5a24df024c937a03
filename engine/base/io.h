/* SPDX-License-Identifier: BSD-2-Clause
 * Whole reads and writes on file descriptors. */
#ifndef ZR_IO_H
#define ZR_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

_Static_assert(sizeof(off_t) >= 8, "build with -D_FILE_OFFSET_BITS=64");

/* Read exactly `len` bytes at `off`. Returns 0, or the negative errno of
 * pread(2); -ENODATA if the file ends before. */
int zr_pread(int fd, void *buf, size_t len, uint64_t off);

/* Write exactly `len` bytes at `off`. Returns 0 or a negative errno. */
int zr_pwrite(int fd, const void *buf, size_t len, uint64_t off);

/* Write all bytes of iov[0, count) at `off`; changes iov. */
int zr_pwritev(int fd, struct iovec *iov, size_t count, uint64_t off);

/* Put the file or directory on stable storage. Returns 0 or a negative errno; a
 * file system that has no way to do it is no error. */
int zr_sync(int fd);

#endif
