/* SPDX-License-Identifier: BSD-2-Clause
 * One .npy array, read from its start to its end. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kind.h"
#include "npz_member.h"
#include "spool.h"
#include "turn.h"

#define FIRST 12 /* bytes that tell how long the header is */
#define CALL_MAX ((size_t)1 << 30)

/* Read `len` bytes of the file, whatever it is; fewer, as *got says, only at
 * its end. */
static int read_some(struct input *in, void *buf, size_t len, size_t *got)
{
	unsigned char *p = buf;

	*got = 0;
	if (in->member)
		return npz_member_read(in->member, buf, len, got);
	while (*got < len) {
		size_t most = len - *got;
		ssize_t n = read(in->fd, p + *got,
				 most < CALL_MAX ? most : CALL_MAX);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cli_fail("%s: reading: %s", in->name,
					strerror(errno));
		if (n == 0)
			break;
		*got += (size_t)n;
	}
	return CLI_OK;
}

static int read_bytes(struct input *in, void *buf, size_t len)
{
	size_t got;

	if (read_some(in, buf, len, &got))
		return CLI_FAILED;
	return got == len ? CLI_OK
			  : cli_fail("%s: ends %zu bytes too early", in->name,
				     len - got);
}

static bool is_text(const unsigned char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((p[i] < 0x20 && !strchr("\t\r\n", p[i])) || !p[i])
			return false;
	return true;
}

/* What it is instead, if that can be told. */
static int no_npy(const struct input *in, const unsigned char *p, size_t len)
{
	const struct kind *kind = kind_of(p, len);

	if (!len)
		return cli_fail("%s: not a .npy file: it is empty", in->name);
	if (len >= 6 && !memcmp(p, "\x93NUMPY", 6))
		return cli_fail("%s: cut: a .npy file begins with %d bytes or "
				"more, and it has %zu",
				in->name, FIRST, len);
	if (kind)
		return cli_fail("%s: not a .npy file but %s", in->name,
				kind->what);
	return cli_fail("%s: not a .npy file%s", in->name,
			is_text(p, len) ? "; for lines of text: zrecord create "
					  "--lines FILE DST"
					: "");
}

static int read_header(struct input *in)
{
	unsigned char first[FIRST], *header;
	struct zr_error err;
	size_t got, len;
	int rc;

	if (read_some(in, first, FIRST, &got))
		return CLI_FAILED;
	rc = got < FIRST ? -EUCLEAN : zr_npy_header_bytes(first, &len);
	if (rc == -EUCLEAN)
		return no_npy(in, first, got);
	if (rc)
		return cli_fail("%s: a .npy version or header that is not "
				"supported",
				in->name);
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

/* Fortran order is read here and there: what has no places is kept. */
static int keep(struct input *in)
{
	uint64_t left = in->npy.data_bytes;
	char buf[65536];

	in->spool = spool_open(in->name, left);
	if (in->spool < 0)
		return CLI_FAILED;
	while (left) {
		size_t n = left < sizeof(buf) ? (size_t)left : sizeof(buf);

		if (read_bytes(in, buf, n) ||
		    spool_write(in->spool, in->name, buf, n))
			return CLI_FAILED;
		left -= n;
	}
	return CLI_OK;
}

static int turn(struct input *in)
{
	if (in->seekable)
		return turn_open(&in->turn, in->name, &in->npy, in->fd,
				 in->start + in->npy.header_bytes);
	if (keep(in))
		return CLI_FAILED;
	return turn_open(&in->turn, in->name, &in->npy, in->spool, 0);
}

static int check_size(struct input *in)
{
	uint64_t want = in->npy.header_bytes + in->npy.data_bytes, has;
	struct stat st;
	off_t at;

	if (in->fd < 0 || fstat(in->fd, &st) || !S_ISREG(st.st_mode))
		return CLI_OK;
	at = lseek(in->fd, 0, SEEK_CUR);
	if (at < (off_t)in->npy.header_bytes)
		return CLI_OK;
	in->seekable = true;
	in->start = (uint64_t)at - in->npy.header_bytes;
	has = st.st_size < at ? 0 : (uint64_t)st.st_size - in->start;
	if (has != want)
		return cli_fail("%s: has %llu bytes, its header says %llu",
				in->name, (unsigned long long)has,
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

	*in = (struct input){ .fd = -1, .spool = -1 };
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
	*in = (struct input){ .fd = -1, .spool = -1 };
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
	if (in->turn ? turn_read(in->turn, in->npy.data_bytes - in->left, buf,
				 len)
		     : read_bytes(in, buf, len))
		return CLI_FAILED;
	in->left -= len;
	return CLI_OK;
}

int input_skip(struct input *in, uint64_t len)
{
	char buf[65536];

	if (in->turn || in->seekable) {
		if (!in->turn &&
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
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return cli_fail("%s: reading: %s", in->name, strerror(errno));
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
	if (in->spool >= 0)
		close(in->spool);
	turn_close(in->turn);
	free(in->name);
	in->member = NULL;
	in->turn = NULL;
	in->name = NULL;
	in->fd = in->spool = -1;
}
