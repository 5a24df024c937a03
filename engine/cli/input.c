/* SPDX-License-Identifier: BSD-2-Clause
 * One .npy array, read from its start to its end. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"

#define FIRST 12 /* bytes that tell how long the header is */
#define CALL_MAX ((size_t)1 << 30)

/* Read exactly `len` bytes of the file, whatever it is. */
static int read_bytes(struct input *in, void *buf, size_t len)
{
	unsigned char *p = buf;

	if (in->member)
		return npz_member_read(in->member, buf, len);
	while (len) {
		ssize_t n = read(in->fd, p, len < CALL_MAX ? len : CALL_MAX);

		/* A pipe may not send more for a long time. */
		if (n < 0 && errno == EINTR && output_stopped())
			return CLI_FAILED;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cli_fail("%s: reading: %s", in->name,
					strerror(errno));
		if (n == 0)
			return cli_fail("%s: ends %zu bytes too early",
					in->name, len);
		p += n;
		len -= (size_t)n;
	}
	return CLI_OK;
}

static int read_header(struct input *in)
{
	unsigned char first[FIRST], *header;
	struct zr_error err;
	size_t len;
	int rc;

	if (read_bytes(in, first, FIRST))
		return CLI_FAILED;
	rc = zr_npy_header_bytes(first, &len);
	if (rc)
		return cli_fail("%s: %s", in->name,
				rc == -EUCLEAN ? "not a .npy file"
					       : "a .npy version or header "
						 "that is not supported");
	if (len < FIRST)
		return cli_fail("%s: the .npy header is too short", in->name);
	header = malloc(len);
	if (!header)
		return cli_fail("no memory");
	memcpy(header, first, FIRST);
	if (read_bytes(in, header + FIRST, len - FIRST)) {
		free(header);
		return CLI_FAILED;
	}
	rc = zr_npy_parse(header, len, &in->npy, &err);
	free(header);
	if (rc)
		return cli_fail("%s: %s", in->name, err.message);
	in->left = in->npy.data_bytes;
	return CLI_OK;
}

/* Element number k of a C-order array is at this one of a Fortran-order one. */
static uint64_t fortran_index(const struct zr_shape *s, uint64_t k)
{
	uint64_t at = 0, stride = 1, place[ZR_RANK_MAX];

	for (uint32_t d = s->rank; d-- > 0;) {
		place[d] = k % s->dims[d];
		k /= s->dims[d];
	}
	for (uint32_t d = 0; d < s->rank; d++) {
		at += place[d] * stride;
		stride *= s->dims[d];
	}
	return at;
}

/* Fortran order has the records apart in pieces: read all and turn it. */
static int turn(struct input *in)
{
	size_t item = in->npy.dtype.itemsize, len = (size_t)in->left;
	unsigned char *from = malloc(len + 1), *to = malloc(len + 1);
	int status = CLI_OK;

	if (!from || !to)
		status = cli_fail("%s: no memory for an array in Fortran order",
				  in->name);
	if (!status)
		status = read_bytes(in, from, len);
	for (uint64_t k = 0; !status && k < len / item; k++)
		memcpy(to + k * item,
		       from + fortran_index(&in->npy.shape, k) * item, item);
	free(from);
	if (status)
		free(to);
	else
		in->whole = to;
	return status;
}

static int check_size(struct input *in)
{
	uint64_t want = in->npy.header_bytes + in->npy.data_bytes;
	struct stat st;

	if (in->fd < 0 || fstat(in->fd, &st) || !S_ISREG(st.st_mode))
		return CLI_OK;
	in->seekable = true;
	if ((uint64_t)st.st_size != want)
		return cli_fail("%s: has %llu bytes, its header says %llu",
				in->name, (unsigned long long)st.st_size,
				(unsigned long long)want);
	return CLI_OK;
}

static int start(struct input *in)
{
	int status = read_header(in);

	if (!status)
		status = check_size(in);
	if (!status && in->npy.fortran_order && in->npy.shape.rank > 1)
		status = turn(in);
	if (status)
		input_close(in);
	return status;
}

int input_open(struct input *in, const char *path)
{
	bool is_stdin = !strcmp(path, "-");

	memset(in, 0, sizeof(*in));
	in->name = strdup(is_stdin ? "standard input" : path);
	in->fd = is_stdin ? dup(STDIN_FILENO)
			  : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (in->fd < 0 || !in->name) {
		cli_fail("%s: %s", path, strerror(errno));
		input_close(in);
		return CLI_FAILED;
	}
	return start(in);
}

int input_open_member(struct input *in, const struct npz *z, size_t index)
{
	memset(in, 0, sizeof(*in));
	in->fd = -1;
	if (npz_member_open(&in->member, z, index, &in->name)) {
		input_close(in);
		return CLI_FAILED;
	}
	return start(in);
}

int input_read(struct input *in, void *buf, size_t len)
{
	if (len > in->left)
		return cli_fail("%s: read past its end", in->name);
	if (in->whole)
		memcpy(buf, in->whole + (in->npy.data_bytes - in->left), len);
	else if (read_bytes(in, buf, len))
		return CLI_FAILED;
	in->left -= len;
	return CLI_OK;
}

int input_skip(struct input *in, uint64_t len)
{
	char buf[65536];

	if (in->whole || in->seekable) {
		if (!in->whole &&
		    lseek(in->fd, (off_t)len, SEEK_CUR) == (off_t)-1)
			return cli_fail("%s: %s", in->name, strerror(errno));
		in->left -= len;
		return CLI_OK;
	}
	while (len) {
		size_t n = len < sizeof(buf) ? (size_t)len : sizeof(buf);

		if (input_read(in, buf, n))
			return CLI_FAILED;
		len -= n;
	}
	return CLI_OK;
}

int input_end(struct input *in)
{
	char byte;
	ssize_t n;

	if (in->member)
		return npz_member_end(in->member);
	if (in->seekable)
		return CLI_OK;
	do {
		n = read(in->fd, &byte, 1);
	} while (n < 0 && errno == EINTR && !output_stopped());
	if (n < 0)
		return output_stopped() ? CLI_FAILED
					: cli_fail("%s: reading: %s", in->name,
						   strerror(errno));
	if (n > 0)
		return cli_fail("%s: more bytes follow than its header says",
				in->name);
	return CLI_OK;
}

void input_close(struct input *in)
{
	npz_member_close(in->member);
	if (in->fd >= 0)
		close(in->fd);
	free(in->whole);
	free(in->name);
	in->member = NULL;
	in->whole = NULL;
	in->name = NULL;
	in->fd = -1;
}
