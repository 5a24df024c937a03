/* SPDX-License-Identifier: BSD-2-Clause
 * Weights from a .npy file. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "weights.h"

static int fail_open(struct zl_error *err, int errnum, const char *path)
{
	static const int codes[] = { ENOENT, ENOTDIR, EACCES,
				     EPERM,  ELOOP,   ENAMETOOLONG,
				     EMFILE, ENFILE,  ENOMEM };
	int code = -EIO;

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i] == errnum)
			code = -errnum;
	return zl_fail(err, code, "%s: open: %s", path, zr_strerror(code));
}

static int read_all(int fd, void *buf, size_t len, uint64_t offset)
{
	unsigned char *p = buf;

	while (len) {
		ssize_t n = pread(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		p += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/* Bytes of one element, in the byte order of the file, to a number. */
static uint64_t load_bits(const unsigned char *p, unsigned size, bool big)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < size; i++)
		v = v << 8 | p[big ? i : size - 1 - i];
	return v;
}

static double load_float(uint64_t bits, unsigned size)
{
	uint32_t bits32 = (uint32_t)bits;
	double d;
	float f;

	if (size == 4) {
		memcpy(&f, &bits32, 4);
		return (double)f;
	}
	memcpy(&d, &bits, 8);
	return d;
}

/* Floats to integers whose sum is near 2^62; v holds bits, then numbers. */
static int scale_floats(uint64_t *v, uint64_t count, unsigned size)
{
	double sum = 0;

	for (uint64_t i = 0; i < count; i++) {
		double d = load_float(v[i], size);

		if (!(d >= 0) || isinf(d))
			return -EINVAL;
		sum += d;
	}
	if (isinf(sum))
		return -EINVAL;
	for (uint64_t i = 0; i < count && sum > 0; i++) {
		double d = load_float(v[i], size);

		v[i] = (uint64_t)(d / sum * 0x1p62);
		if (d > 0 && !v[i])
			v[i] = 1;
	}
	return 0;
}

static int check_header(int fd, const char *path, struct zr_npy *npy,
			struct zl_error *err)
{
	unsigned char start[12], *header;
	struct zr_error e;
	struct stat st;
	size_t bytes;
	int rc;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return zl_fail(err, -EINVAL, "%s: not a regular file", path);
	if (read_all(fd, start, sizeof(start), 0) ||
	    zr_npy_header_bytes(start, &bytes) || bytes > (uint64_t)st.st_size)
		return zl_fail(err, -EUCLEAN, "%s: not a .npy file", path);
	header = malloc(bytes);
	if (!header)
		return zl_fail(err, -ENOMEM, "%s: no memory", path);
	rc = read_all(fd, header, bytes, 0);
	if (rc)
		zl_fail(err, rc, "%s: read failed", path);
	else if ((rc = zr_npy_parse(header, bytes, npy, &e)))
		zl_fail(err, rc, "%s: %s", path, e.message);
	else if (npy->shape.rank != 1 || npy->dtype.itemsize > 8 ||
		 !strchr("uif", npy->dtype.kind) ||
		 (npy->dtype.kind == 'f' && npy->dtype.itemsize < 4))
		rc = zl_fail(err, -ENOTSUP,
			     "%s: weights must be one dimension of numbers",
			     path);
	else if (npy->data_bytes > (uint64_t)st.st_size - bytes)
		rc = zl_fail(
			err, -EUCLEAN,
			"%s: %llu bytes of weights expected, %llu found", path,
			(unsigned long long)npy->data_bytes,
			(unsigned long long)((uint64_t)st.st_size - bytes));
	free(header);
	return rc;
}

/* Widen the elements at the end of v[0, count) to the whole of it. */
static int widen(uint64_t *v, uint64_t count, const struct zr_npy *npy)
{
	unsigned size = npy->dtype.itemsize;
	const unsigned char *at =
		(const unsigned char *)(v + count) - count * size;

	for (uint64_t i = 0; i < count; i++, at += size) {
		v[i] = load_bits(at, size, npy->dtype.order == '>');
		if (npy->dtype.kind == 'i' && v[i] >> (8 * size - 1))
			return -EINVAL;
	}
	return npy->dtype.kind == 'f' ? scale_floats(v, count, size) : 0;
}

static int load_fd(struct zl_weights **out, int fd, const char *path,
		   struct zl_error *err)
{
	struct zr_npy npy;
	uint64_t count, *v;
	int rc = check_header(fd, path, &npy, err);

	if (rc)
		return rc;
	count = npy.shape.dims[0];
	v = calloc(count + 1, sizeof(*v));
	if (!v)
		return zl_fail(err, -ENOMEM, "%s: no memory", path);
	rc = read_all(fd, (unsigned char *)(v + count) - npy.data_bytes,
		      npy.data_bytes, npy.header_bytes);
	if (rc)
		zl_fail(err, rc, "%s: read failed", path);
	else if ((rc = widen(v, count, &npy)))
		zl_fail(err, rc, "%s: a weight is negative or not finite",
			path);
	else
		rc = zl_weights_new(out, v, count, err);
	free(v);
	return rc;
}

int zl_weights_load(struct zl_weights **out, const char *path,
		    struct zl_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int rc;

	*out = NULL;
	if (fd < 0)
		return fail_open(err, errno, path);
	rc = load_fd(out, fd, path, err);
	close(fd);
	return rc;
}
