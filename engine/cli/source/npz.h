/* SPDX-License-Identifier: BSD-2-Clause
 * The directory of an .npz. */
#ifndef NPZ_H
#define NPZ_H

#include "common/cli.h"

struct member {
	char *name;
	uint64_t offset, packed, size;
	uint32_t crc;
	unsigned method; /* 0: stored, 8: deflated */
};

struct npz {
	char *path;
	int fd;
	uint64_t size;
	struct member *member;
	size_t count, room;
};

/* An .npz: its members that are .npy, in the order of the archive. */
int npz_open(struct npz **out, const char *path);
size_t npz_count(const struct npz *z);
void npz_close(struct npz *z);

/* A little-endian number. */
uint64_t npz_get(const unsigned char *p, unsigned bytes);
/* Read bytes of the file; CLI_FAILED after printing if they are not there. */
int npz_read_at(const struct npz *z, uint64_t off, void *buf, size_t len);

#endif
