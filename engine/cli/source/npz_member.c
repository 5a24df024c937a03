/* SPDX-License-Identifier: BSD-2-Clause
 * Reading a member of an .npz, stored or deflated. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "npz_member.h"

#include "npz.h"

#define LOCAL_BYTES 30
#define CHUNK 65536

struct npz_member {
	const struct npz *z;
	const struct member *m;
	uint64_t at, left_packed, left;
	uint32_t crc;
	z_stream inflate;
	bool inflating, ended;
	unsigned char chunk[CHUNK];
};

static int damaged(const struct npz_member *r, const char *what)
{
	return cli_fail("%s:%s: damaged: %s", r->z->path, r->m->name, what);
}

int npz_member_open(struct npz_member **out, const struct npz *z, size_t index,
		    char **name)
{
	const struct member *m = &z->member[index];
	struct npz_member *r = calloc(1, sizeof(*r));
	unsigned char local[LOCAL_BYTES];

	*out = NULL;
	if (!r || asprintf(name, "%s:%s", z->path, m->name) < 0) {
		free(r);
		*name = NULL;
		return cli_fail("no memory");
	}
	*out = r;
	r->z = z;
	r->m = m;
	if (m->offset > z->size || LOCAL_BYTES > z->size - m->offset)
		return damaged(r, "it lies outside the file");
	if (npz_read_at(z, m->offset, local, sizeof(local)))
		return CLI_FAILED;
	if (npz_get(local, 4) != 0x04034b50)
		return damaged(r, "it has no header where the directory says");
	r->at = m->offset + LOCAL_BYTES + npz_get(local + 26, 2) +
		npz_get(local + 28, 2);
	if (r->at > z->size || m->packed > z->size - r->at ||
	    (!m->method && m->packed != m->size))
		return damaged(r, "it lies outside the file");
	r->left_packed = m->packed;
	r->left = m->size;
	r->crc = (uint32_t)crc32(0, NULL, 0);
	if (m->method && inflateInit2(&r->inflate, -MAX_WBITS) != Z_OK)
		return cli_fail("no memory");
	r->inflating = m->method != 0;
	return CLI_OK;
}

static int fill_chunk(struct npz_member *r)
{
	size_t n = r->left_packed < CHUNK ? (size_t)r->left_packed : CHUNK;

	if (!n)
		return damaged(r, "its packed bytes end early");
	if (npz_read_at(r->z, r->at, r->chunk, n))
		return CLI_FAILED;
	r->at += n;
	r->left_packed -= n;
	r->inflate.next_in = r->chunk;
	r->inflate.avail_in = (uInt)n;
	return CLI_OK;
}

static int inflate_some(struct npz_member *r, unsigned char *p, size_t len)
{
	r->inflate.next_out = p;
	r->inflate.avail_out = (uInt)len;
	while (r->inflate.avail_out) {
		int rc = Z_BUF_ERROR;

		/* With all input taken it may still owe output. */
		if (r->inflate.avail_in || !r->left_packed)
			rc = inflate(&r->inflate, Z_NO_FLUSH);
		r->ended = rc == Z_STREAM_END;
		if (rc == Z_BUF_ERROR && !r->inflate.avail_in) {
			if (fill_chunk(r))
				return CLI_FAILED;
		} else if (rc != Z_OK &&
			   !(rc == Z_STREAM_END && !r->inflate.avail_out)) {
			return damaged(r, "it does not inflate");
		}
	}
	return CLI_OK;
}

int npz_member_read(struct npz_member *r, void *buf, size_t len, size_t *got)
{
	unsigned char *p = buf;

	if (len > r->left)
		len = (size_t)r->left;
	*got = len;
	while (len) {
		size_t n = len < ((size_t)1 << 30) ? len : (size_t)1 << 30;
		int status = r->inflating ? inflate_some(r, p, n)
					  : npz_read_at(r->z, r->at, p, n);

		if (status)
			return status;
		if (!r->inflating)
			r->at += n;
		r->crc = (uint32_t)crc32_z(r->crc, p, n);
		r->left -= n;
		p += n;
		len -= n;
	}
	return CLI_OK;
}

int npz_member_end(struct npz_member *r)
{
	unsigned char more;

	if (r->left)
		return cli_fail("%s:%s: has %llu bytes more than its header "
				"says",
				r->z->path, r->m->name,
				(unsigned long long)r->left);
	/* The end of the deflated data must be here as well. */
	r->inflate.next_out = &more;
	r->inflate.avail_out = 1;
	while (r->inflating && !r->ended) {
		int rc = inflate(&r->inflate, Z_NO_FLUSH);

		if (rc == Z_BUF_ERROR && !r->inflate.avail_in &&
		    r->inflate.avail_out) {
			if (fill_chunk(r))
				return CLI_FAILED;
			continue;
		}
		if ((rc != Z_OK && rc != Z_STREAM_END) || !r->inflate.avail_out)
			return damaged(r, "more bytes inflate than the "
					  "directory says");
		r->ended = rc == Z_STREAM_END;
	}
	if (r->inflating && (r->left_packed || r->inflate.avail_in))
		return damaged(r, "packed bytes are left over");
	if (r->crc != r->m->crc)
		return cli_fail("%s:%s: wrong CRC-32: expected %08x, found "
				"%08x",
				r->z->path, r->m->name, r->m->crc, r->crc);
	return CLI_OK;
}

void npz_member_close(struct npz_member *r)
{
	if (!r)
		return;
	if (r->inflating)
		inflateEnd(&r->inflate);
	free(r);
}
