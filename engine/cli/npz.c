/* SPDX-License-Identifier: BSD-2-Clause
 * Reading an .npz: a zip file of .npy members, stored or deflated. Nothing
 * that the file says is used before it is checked against its size. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "input.h"

#define END_BYTES 22
#define END64_BYTES 56
#define LOCATOR_BYTES 20
#define CENTRAL_BYTES 46
#define LOCAL_BYTES 30
#define COMMENT_MAX 65535
#define FULL32 0xffffffffu
#define CHUNK 65536

struct member {
	char *name;
	uint64_t offset, packed, size;
	uint32_t crc;
	unsigned method;
};

struct npz {
	char *path;
	int fd;
	uint64_t size;
	struct member *member;
	size_t count, room;
};

struct npz_member {
	const struct npz *z;
	const struct member *m;
	uint64_t at, left_packed, left;
	uint32_t crc;
	z_stream inflate;
	bool inflating, ended;
	unsigned char chunk[CHUNK];
};

static uint64_t get(const unsigned char *p, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

static int damaged(const struct npz *z, const char *what)
{
	return cli_fail("%s: not a usable .npz: %s", z->path, what);
}

static int read_at(const struct npz *z, uint64_t off, void *buf, size_t len)
{
	unsigned char *p = buf;

	if (off > z->size || len > z->size - off)
		return damaged(z, "a part lies outside the file");
	while (len) {
		ssize_t n = pread(z->fd, p, len, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return cli_fail("%s: reading: %s", z->path,
					n ? strerror(errno) : "it was cut");
		p += n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return CLI_OK;
}

/* Offset, bytes and members of the central directory. */
struct directory {
	uint64_t offset, bytes, count;
};

static int find_end64(const struct npz *z, uint64_t end, struct directory *d)
{
	unsigned char locator[LOCATOR_BYTES], e[END64_BYTES];

	if (end < LOCATOR_BYTES)
		return damaged(z, "no zip64 directory");
	if (read_at(z, end - LOCATOR_BYTES, locator, sizeof(locator)))
		return CLI_FAILED;
	if (get(locator, 4) != 0x07064b50)
		return damaged(z, "no zip64 directory");
	if (read_at(z, get(locator + 8, 8), e, sizeof(e)))
		return CLI_FAILED;
	if (get(e, 4) != 0x06064b50)
		return damaged(z, "no zip64 directory");
	d->count = get(e + 32, 8);
	d->bytes = get(e + 40, 8);
	d->offset = get(e + 48, 8);
	return CLI_OK;
}

static int find_directory(const struct npz *z, struct directory *d)
{
	size_t len = z->size < END_BYTES + COMMENT_MAX
			     ? (size_t)z->size
			     : END_BYTES + COMMENT_MAX;
	unsigned char *tail = malloc(len + 1), *p = NULL;
	int status;

	if (!tail)
		return cli_fail("no memory");
	status = read_at(z, z->size - len, tail, len);
	for (size_t i = len; !status && !p && i >= END_BYTES; i--)
		if (get(tail + i - END_BYTES, 4) == 0x06054b50)
			p = tail + i - END_BYTES;
	if (!status && !p)
		status = damaged(z, "it has no directory");
	if (!status) {
		d->count = get(p + 10, 2);
		d->bytes = get(p + 12, 4);
		d->offset = get(p + 16, 4);
		if (d->count == 0xffff || d->bytes == FULL32 ||
		    d->offset == FULL32)
			status = find_end64(
				z, z->size - len + (uint64_t)(p - tail), d);
	}
	free(tail);
	return status;
}

/* The zip64 field holds, in this order, those of size, packed size and offset
 * that are full in the 32-bit fields. */
static bool read_zip64(struct member *m, const unsigned char *p, size_t len)
{
	uint64_t *wide[3] = { &m->size, &m->packed, &m->offset };

	while (len >= 4) {
		size_t n = (size_t)get(p + 2, 2);
		bool ours = get(p, 2) == 1;

		p += 4;
		len -= 4;
		if (n > len)
			return false;
		for (size_t i = 0; ours && i < 3; i++) {
			if (*wide[i] != FULL32)
				continue;
			if (n < 8)
				return false;
			*wide[i] = get(p, 8);
			p += 8;
			len -= 8;
			n -= 8;
		}
		p += n;
		len -= n;
	}
	return true;
}

static int add_member(struct npz *z, const unsigned char *p, size_t name_len,
		      size_t extra_len)
{
	struct member m = { 0 };

	m.method = (unsigned)get(p + 10, 2);
	m.crc = (uint32_t)get(p + 16, 4);
	m.packed = get(p + 20, 4);
	m.size = get(p + 24, 4);
	m.offset = get(p + 42, 4);
	if (!read_zip64(&m, p + CENTRAL_BYTES + name_len, extra_len))
		return damaged(z, "a zip64 field is cut");
	/* A folder, as some tools write it. */
	if (name_len && p[CENTRAL_BYTES + name_len - 1] == '/')
		return CLI_OK;
	if (name_len < 4 || memcmp(p + CENTRAL_BYTES + name_len - 4, ".npy", 4))
		return cli_fail("%s: member '%.*s' is not a .npy", z->path,
				(int)name_len, (const char *)p + CENTRAL_BYTES);
	if (get(p + 8, 2) & 1)
		return damaged(z, "a member is encrypted");
	if (m.method != 0 && m.method != 8)
		return damaged(z, "a member is neither stored nor deflated");
	if (z->count == z->room) {
		size_t room = z->room ? 2 * z->room : 64;
		struct member *grown = realloc(z->member, room * sizeof(m));

		if (!grown)
			return cli_fail("no memory");
		z->member = grown;
		z->room = room;
	}
	m.name = strndup((const char *)p + CENTRAL_BYTES, name_len);
	if (!m.name)
		return cli_fail("no memory");
	z->member[z->count++] = m;
	return CLI_OK;
}

static int read_directory(struct npz *z)
{
	struct directory d = { 0, 0, 0 };
	unsigned char *all, *p;
	int status = find_directory(z, &d);
	uint64_t left;

	if (status)
		return status;
	if (d.offset > z->size || d.bytes > z->size - d.offset)
		return damaged(z, "its directory lies outside the file");
	all = malloc((size_t)d.bytes + 1);
	if (!all)
		return cli_fail("no memory");
	status = read_at(z, d.offset, all, (size_t)d.bytes);
	p = all;
	left = d.bytes;
	for (uint64_t i = 0; i < d.count && !status; i++) {
		size_t name_len, extra_len, len;

		if (left < CENTRAL_BYTES || get(p, 4) != 0x02014b50) {
			status = damaged(z, "its directory is cut");
			break;
		}
		name_len = (size_t)get(p + 28, 2);
		extra_len = (size_t)get(p + 30, 2);
		len = CENTRAL_BYTES + name_len + extra_len +
		      (size_t)get(p + 32, 2);
		if (len > left) {
			status = damaged(z, "its directory is cut");
			break;
		}
		status = add_member(z, p, name_len, extra_len);
		p += len;
		left -= len;
	}
	if (!status && left)
		status = damaged(z, "its directory has more members than it "
				    "counts");
	free(all);
	return status;
}

int npz_open(struct npz **out, const char *path)
{
	struct npz *z = calloc(1, sizeof(*z));
	struct stat st;

	*out = NULL;
	if (!z)
		return cli_fail("no memory");
	z->path = strdup(path);
	z->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (z->fd < 0 || fstat(z->fd, &st)) {
		cli_fail("%s: %s", path, strerror(errno));
		npz_close(z);
		return CLI_FAILED;
	}
	z->size = (uint64_t)st.st_size;
	if (read_directory(z)) {
		npz_close(z);
		return CLI_FAILED;
	}
	*out = z;
	return CLI_OK;
}

size_t npz_count(const struct npz *z)
{
	return z->count;
}

void npz_close(struct npz *z)
{
	if (!z)
		return;
	for (size_t i = 0; i < z->count; i++)
		free(z->member[i].name);
	if (z->fd >= 0)
		close(z->fd);
	free(z->member);
	free(z->path);
	free(z);
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
	if (read_at(z, m->offset, local, sizeof(local)))
		return CLI_FAILED;
	if (get(local, 4) != 0x04034b50)
		return damaged(z, "a member has no header");
	r->at = m->offset + LOCAL_BYTES + get(local + 26, 2) +
		get(local + 28, 2);
	if (r->at > z->size || m->packed > z->size - r->at ||
	    (!m->method && m->packed != m->size))
		return damaged(z, "a member lies outside the file");
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
		return damaged(r->z, "a member ends early");
	if (read_at(r->z, r->at, r->chunk, n))
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
			return damaged(r->z, "a member does not inflate");
		}
	}
	return CLI_OK;
}

int npz_member_read(struct npz_member *r, void *buf, size_t len)
{
	unsigned char *p = buf;

	if (len > r->left)
		return damaged(r->z, "a member ends before its array");
	while (len) {
		size_t n = len < ((size_t)1 << 30) ? len : (size_t)1 << 30;
		int status = r->inflating ? inflate_some(r, p, n)
					  : read_at(r->z, r->at, p, n);

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
		return damaged(r->z, "a member is longer than its array");
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
			return damaged(r->z, "a member does not end with its "
					     "array");
		r->ended = rc == Z_STREAM_END;
	}
	if (r->inflating && (r->left_packed || r->inflate.avail_in))
		return damaged(r->z, "bytes follow a member");
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
