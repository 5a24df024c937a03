/* SPDX-License-Identifier: BSD-2-Clause
 * The directory of an .npz: a zip file of .npy members. Nothing that the file
 * says is used before it is checked against its size. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npz.h"

#define END_BYTES 22
#define END64_BYTES 56
#define LOCATOR_BYTES 20
#define CENTRAL_BYTES 46
#define COMMENT_MAX 65535
#define FULL32 0xffffffffu

uint64_t npz_get(const unsigned char *p, unsigned bytes)
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

int npz_read_at(const struct npz *z, uint64_t off, void *buf, size_t len)
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

/* Numbers that do not fit the first directory are full there; they are right
 * as they are if there is no other. */
static int find_end64(const struct npz *z, uint64_t end, struct directory *d)
{
	unsigned char locator[LOCATOR_BYTES], e[END64_BYTES];

	if (end < LOCATOR_BYTES)
		return CLI_OK;
	if (npz_read_at(z, end - LOCATOR_BYTES, locator, sizeof(locator)))
		return CLI_FAILED;
	if (npz_get(locator, 4) != 0x07064b50)
		return CLI_OK;
	if (npz_read_at(z, npz_get(locator + 8, 8), e, sizeof(e)))
		return CLI_FAILED;
	if (npz_get(e, 4) != 0x06064b50)
		return damaged(z, "no zip64 directory");
	d->count = npz_get(e + 32, 8);
	d->bytes = npz_get(e + 40, 8);
	d->offset = npz_get(e + 48, 8);
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
	status = npz_read_at(z, z->size - len, tail, len);
	for (size_t i = len; !status && !p && i >= END_BYTES; i--)
		if (npz_get(tail + i - END_BYTES, 4) == 0x06054b50)
			p = tail + i - END_BYTES;
	if (!status && !p)
		status = damaged(z, "it has no directory");
	if (!status) {
		d->count = npz_get(p + 10, 2);
		d->bytes = npz_get(p + 12, 4);
		d->offset = npz_get(p + 16, 4);
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
		size_t n = (size_t)npz_get(p + 2, 2);
		bool ours = npz_get(p, 2) == 1;

		p += 4;
		len -= 4;
		if (n > len)
			return false;
		for (size_t i = 0; ours && i < 3; i++) {
			if (*wide[i] != FULL32)
				continue;
			if (n < 8)
				return false;
			*wide[i] = npz_get(p, 8);
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
	const char *name = (const char *)p + CENTRAL_BYTES;
	struct member m = { 0 };

	m.method = (unsigned)npz_get(p + 10, 2);
	m.crc = (uint32_t)npz_get(p + 16, 4);
	m.packed = npz_get(p + 20, 4);
	m.size = npz_get(p + 24, 4);
	m.offset = npz_get(p + 42, 4);
	if (!read_zip64(&m, p + CENTRAL_BYTES + name_len, extra_len))
		return damaged(z, "a zip64 field is cut");
	/* A folder, as some tools write it. */
	if (name_len && name[name_len - 1] == '/')
		return CLI_OK;
	if (name_len < 4 ||
	    strncasecmp(name + name_len - 4, ".npy", 4))
		return cli_fail("%s:%.*s: not a .npy file", z->path,
				(int)name_len, name);
	if (npz_get(p + 8, 2) & 1)
		return cli_fail("%s:%.*s: is encrypted", z->path,
				(int)name_len, name);
	if (m.method != 0 && m.method != 8)
		return cli_fail("%s:%.*s: neither stored nor deflated, but "
				"packed by method %u",
				z->path, (int)name_len, name, m.method);
	if (z->count == z->room) {
		size_t room = z->room ? 2 * z->room : 64;
		struct member *grown = realloc(z->member, room * sizeof(m));

		if (!grown)
			return cli_fail("no memory");
		z->member = grown;
		z->room = room;
	}
	m.name = strndup(name, name_len);
	if (!m.name)
		return cli_fail("no memory");
	z->member[z->count++] = m;
	return CLI_OK;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Of two members of one name, which one is meant? */
static int check_names(const struct npz *z)
{
	char **name = malloc((z->count + 1) * sizeof(char *));
	int status = CLI_OK;

	if (!name)
		return cli_fail("no memory");
	for (size_t i = 0; i < z->count; i++)
		name[i] = z->member[i].name;
	qsort(name, z->count, sizeof(char *), by_name);
	for (size_t i = 1; i < z->count && !status; i++)
		if (!strcmp(name[i - 1], name[i]))
			status = cli_fail("%s:%s: two members have this name",
					  z->path, name[i]);
	free(name);
	return status;
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
	status = npz_read_at(z, d.offset, all, (size_t)d.bytes);
	p = all;
	left = d.bytes;
	for (uint64_t i = 0; i < d.count && !status; i++) {
		size_t name_len, extra_len, len;

		if (left < CENTRAL_BYTES || npz_get(p, 4) != 0x02014b50) {
			status = damaged(z, "its directory is cut");
			break;
		}
		name_len = (size_t)npz_get(p + 28, 2);
		extra_len = (size_t)npz_get(p + 30, 2);
		len = CENTRAL_BYTES + name_len + extra_len +
		      (size_t)npz_get(p + 32, 2);
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
	return status ? status : check_names(z);
}

int npz_open(struct npz **out, const char *path)
{
	struct npz *z = calloc(1, sizeof(*z));
	struct stat st;

	*out = NULL;
	if (!z)
		return cli_fail("no memory");
	z->path = strdup(path);
	z->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (z->fd >= 0 && !fstat(z->fd, &st) && !S_ISREG(st.st_mode)) {
		cli_fail("%s: an .npz must be a regular file, as it is not "
			 "read in order",
			 path);
		npz_close(z);
		return CLI_FAILED;
	}
	if (z->fd < 0 || !z->path || fstat(z->fd, &st)) {
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
