/* SPDX-License-Identifier: BSD-2-Clause
 * Writing a stored zip file, as numpy.savez does.
 *
 * The driver has a writer of its own (fs/files/zip.c): there a READ may begin
 * anywhere, so each part is computed from the sizes of all members and nothing is
 * kept; here members come one by one, with sizes that are not known before, and
 * their entries are kept until the end. What both do is to put some fields in a
 * row; one piece for that would need more lines than it saves, and a room below
 * both. */
#include "zipfile.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define LOCAL_BYTES 30
#define CENTRAL_BYTES 46
#define ZIP64_EXTRA 12 /* tag, size, one offset */
#define FULL32 0xffffffffu
#define DATE_1980 0x21 /* 1 January: the same input makes the same file */

static unsigned char *put(unsigned char *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		*p++ = (unsigned char)(v >> 8 * i);
	return p;
}

static bool write_out(struct zipfile *z, const void *p, size_t len)
{
	z->at += len;
	return !len || fwrite(p, 1, len, z->f) == len;
}

/* The fields that local and central headers share, from `version` on. */
static unsigned char *put_common(unsigned char *p, unsigned version,
				 uint32_t crc, uint32_t size, size_t name_len)
{
	p = put(p, version, 2);
	p = put(p, 0, 2); /* flags */
	p = put(p, 0, 2); /* stored */
	p = put(p, 0, 2); /* time */
	p = put(p, DATE_1980, 2);
	p = put(p, crc, 4);
	p = put(p, size, 4);
	p = put(p, size, 4);
	return put(p, name_len, 2);
}

static bool add_central(struct zipfile *z, const char *name, uint32_t crc,
			uint32_t size, uint64_t offset)
{
	size_t name_len = strlen(name);
	bool wide = offset >= FULL32;
	size_t need = CENTRAL_BYTES + name_len + ZIP64_EXTRA;
	unsigned char *p;

	if (z->central_room - z->central_len < need) {
		size_t room = 2 * z->central_room + need + 4096;

		p = realloc(z->central, room);
		if (!p)
			return false;
		z->central = p;
		z->central_room = room;
	}
	p = z->central + z->central_len;
	p = put(p, 0x02014b50, 4);
	p = put(p, 45, 2); /* made by */
	p = put_common(p, wide ? 45 : 20, crc, size, name_len);
	p = put(p, wide ? ZIP64_EXTRA : 0, 2);
	p = put(p, 0, 2); /* comment */
	p = put(p, 0, 2); /* disk */
	p = put(p, 0, 2);
	p = put(p, 0, 4);
	p = put(p, wide ? FULL32 : offset, 4);
	memcpy(p, name, name_len);
	p += name_len;
	if (wide) {
		p = put(p, 1, 2);
		p = put(p, 8, 2);
		p = put(p, offset, 8);
	}
	z->central_len = (size_t)(p - z->central);
	z->members++;
	return true;
}

bool zipfile_add(struct zipfile *z, const char *name, const void *head,
		 size_t head_len, const void *body, size_t body_len)
{
	unsigned char local[LOCAL_BYTES], *p;
	size_t name_len = strlen(name);
	uLong crc = crc32_z(0, head, head_len);
	uint64_t offset = z->at;
	uint32_t size = (uint32_t)(head_len + body_len);

	crc = crc32_z(crc, body, body_len);
	p = put(local, 0x04034b50, 4);
	p = put_common(p, 20, (uint32_t)crc, size, name_len);
	put(p, 0, 2); /* extra */
	return write_out(z, local, sizeof(local)) &&
	       write_out(z, name, name_len) && write_out(z, head, head_len) &&
	       write_out(z, body, body_len) &&
	       add_central(z, name, (uint32_t)crc, size, offset);
}

bool zipfile_end(struct zipfile *z)
{
	unsigned char end[56 + 20 + 22], *p = end;
	uint64_t start = z->at, members = z->members;
	bool wide = members >= 0xffff || start >= FULL32 ||
		    z->central_len >= FULL32;

	if (!write_out(z, z->central, z->central_len))
		return false;
	if (wide) {
		uint64_t at = z->at;

		p = put(p, 0x06064b50, 4);
		p = put(p, 44, 8);
		p = put(p, 45, 2);
		p = put(p, 45, 2);
		p = put(p, 0, 8); /* disks */
		p = put(p, members, 8);
		p = put(p, members, 8);
		p = put(p, z->central_len, 8);
		p = put(p, start, 8);
		p = put(p, 0x07064b50, 4);
		p = put(p, 0, 4);
		p = put(p, at, 8);
		p = put(p, 1, 4);
	}
	p = put(p, 0x06054b50, 4);
	p = put(p, 0, 4); /* disks */
	p = put(p, wide ? 0xffff : members, 2);
	p = put(p, wide ? 0xffff : members, 2);
	p = put(p, wide ? FULL32 : z->central_len, 4);
	p = put(p, wide ? FULL32 : start, 4);
	p = put(p, 0, 2); /* comment */
	return write_out(z, end, (size_t)(p - end));
}

void zipfile_free(struct zipfile *z)
{
	free(z->central);
}
