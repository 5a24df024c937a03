/* SPDX-License-Identifier: BSD-2-Clause
 * The bytes of a stored (uncompressed) zip that are not its members' data. */
#include "zip.h"

#include <string.h>

#include "base/name.h"

#define FULL16 0xFFFFu
#define FULL32 0xFFFFFFFFu
#define HEADER_FIXED 30
#define ENTRY_FIXED 46
#define ENTRY_EXTRA 12
#define END_FIXED 22
#define END64_FIXED 56
#define END64_LOCATOR 20
#define NAME_FIXED (sizeof("arr_.npy") - 1)
/* 1980-01-01, read-only regular file, made on Unix. */
#define DOS_DATE 0x21
#define MODE ((uint32_t)0100444 << 16)
#define VERSION_STORED 10
#define VERSION_ZIP64 45
#define MADE_BY (3u << 8 | VERSION_ZIP64)

static unsigned char *put16(unsigned char *p, unsigned v)
{
	p[0] = (unsigned char)v;
	p[1] = (unsigned char)(v >> 8);
	return p + 2;
}

static unsigned char *put32(unsigned char *p, uint64_t v)
{
	return put16(put16(p, (unsigned)v & FULL16), (unsigned)(v >> 16));
}

static unsigned char *put64(unsigned char *p, uint64_t v)
{
	return put32(put32(p, v), v >> 32);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Bytes of the digits of all numbers below `n`. */
static uint64_t digits_below(uint64_t n)
{
	uint64_t sum = n;

	for (uint64_t p = 10; p < n; p *= 10)
		sum += n - p;
	return sum;
}

static uint64_t name_len(uint64_t i)
{
	return NAME_FIXED + digits_below(i + 1) - digits_below(i);
}

static unsigned char *put_name(unsigned char *p, uint64_t i)
{
	char name[NAME_ROOM];
	size_t len = name_format(name, i, 1, ".npy");

	memcpy(p, "arr_", 4);
	memcpy(p + 4, name, len);
	return p + 4 + len;
}

uint64_t zip_header_len(uint64_t i)
{
	return HEADER_FIXED + name_len(i);
}

void zip_finish(struct zip *z)
{
	for (z->far = 0; z->far < z->count; z->far++) {
		if (z->start[z->far] >= FULL32)
			break;
	}
}

uint64_t zip_entry_at(const struct zip *z, uint64_t i)
{
	uint64_t far = i > z->far ? i - z->far : 0;

	return z->start[z->count] + i * (ENTRY_FIXED + NAME_FIXED) +
	       digits_below(i) + far * ENTRY_EXTRA;
}

static uint64_t directory_len(const struct zip *z)
{
	return zip_entry_at(z, z->count) - z->start[z->count];
}

static int is_zip64(const struct zip *z)
{
	return z->count >= FULL16 || z->start[z->count] >= FULL32 ||
	       directory_len(z) >= FULL32;
}

uint64_t zip_size(const struct zip *z)
{
	return zip_entry_at(z, z->count) + END_FIXED +
	       (is_zip64(z) ? END64_FIXED + END64_LOCATOR : 0);
}

static uint64_t member_len(const struct zip *z, uint64_t i)
{
	return z->start[i + 1] - z->start[i] - zip_header_len(i);
}

/* The fields that a header and a directory entry have in common. */
static unsigned char *put_common(unsigned char *p, const struct zip *z,
				 uint64_t i, uint32_t crc, unsigned extra)
{
	p = put16(p, extra ? VERSION_ZIP64 : VERSION_STORED);
	p = put16(p, 0); /* flags */
	p = put16(p, 0); /* method: stored */
	p = put16(p, 0); /* time */
	p = put16(p, DOS_DATE);
	p = put32(p, crc);
	p = put32(p, member_len(z, i));
	p = put32(p, member_len(z, i));
	p = put16(p, (unsigned)name_len(i));
	return put16(p, extra);
}

size_t zip_header(const struct zip *z, uint64_t i, uint32_t crc,
		  unsigned char *buf)
{
	unsigned char *p = buf;

	p = put32(p, 0x04034b50);
	p = put_common(p, z, i, crc, 0);
	p = put_name(p, i);
	return (size_t)(p - buf);
}

size_t zip_entry(const struct zip *z, uint64_t i, uint32_t crc,
		 unsigned char *buf)
{
	unsigned extra = i >= z->far ? ENTRY_EXTRA : 0;
	unsigned char *p = buf;

	p = put32(p, 0x02014b50);
	p = put16(p, MADE_BY);
	p = put_common(p, z, i, crc, extra);
	p = put16(p, 0); /* comment */
	p = put16(p, 0); /* disk */
	p = put16(p, 0); /* internal attributes */
	p = put32(p, MODE);
	p = put32(p, least(z->start[i], FULL32));
	p = put_name(p, i);
	if (extra) {
		p = put16(p, 1);
		p = put16(p, 8);
		p = put64(p, z->start[i]);
	}
	return (size_t)(p - buf);
}

static unsigned char *put_end64(unsigned char *p, const struct zip *z)
{
	p = put32(p, 0x06064b50);
	p = put64(p, END64_FIXED - 12); /* what follows this field */
	p = put16(p, MADE_BY);
	p = put16(p, VERSION_ZIP64);
	p = put32(p, 0); /* this disk */
	p = put32(p, 0); /* disk of the directory */
	p = put64(p, z->count);
	p = put64(p, z->count);
	p = put64(p, directory_len(z));
	p = put64(p, z->start[z->count]);
	p = put32(p, 0x07064b50);
	p = put32(p, 0);
	p = put64(p, zip_entry_at(z, z->count));
	return put32(p, 1); /* disks */
}

size_t zip_end(const struct zip *z, unsigned char *buf)
{
	unsigned count = (unsigned)least(z->count, FULL16);
	unsigned char *p = buf;

	if (is_zip64(z))
		p = put_end64(p, z);
	p = put32(p, 0x06054b50);
	p = put16(p, 0); /* this disk */
	p = put16(p, 0); /* disk of the directory */
	p = put16(p, count);
	p = put16(p, count);
	p = put32(p, least(directory_len(z), FULL32));
	p = put32(p, least(z->start[z->count], FULL32));
	p = put16(p, 0); /* comment */
	return (size_t)(p - buf);
}

uint64_t zip_find_member(const struct zip *z, uint64_t off)
{
	uint64_t low = 0, high = z->count;

	while (high - low > 1) {
		uint64_t mid = low + (high - low) / 2;

		*(z->start[mid] <= off ? &low : &high) = mid;
	}
	return low;
}

uint64_t zip_find_entry(const struct zip *z, uint64_t off)
{
	uint64_t low = 0, high = z->count + 1;

	while (high - low > 1) {
		uint64_t mid = low + (high - low) / 2;

		*(zip_entry_at(z, mid) <= off ? &low : &high) = mid;
	}
	return low;
}
