/* SPDX-License-Identifier: BSD-2-Clause
 * The bytes of a stored (uncompressed) zip that are not its members' data,
 * by arithmetic, so that any part of the file can be made alone.
 *
 *     header 0, member 0, header 1, member 1, ..., directory, end
 *
 * Member i is named arr_I.npy as numpy.savez names it. A member is under
 * 4 GiB; the file may be larger (zip64). Times are the first that zip knows:
 * the same container always makes the same bytes. */
#ifndef ZIP_H
#define ZIP_H

#include <stddef.h>
#include <stdint.h>

/* No header, directory entry or end is longer. */
#define ZIP_HEADER_MAX 128

struct zip {
	uint64_t count;
	uint64_t far; /* the first member that zip64 must locate, or count */
	/* Where header i is; start[count] is where the directory is. */
	uint64_t *start;
};

/* Return the length of header `i`. */
uint64_t zip_header_len(uint64_t i);

/* Compute `far`, once all of `start` is set. */
void zip_finish(struct zip *z);

/* Return where in the file the directory entry `i` is, or the end for
 * i == count. */
uint64_t zip_entry_at(const struct zip *z, uint64_t i);

/* Return the size of the file. */
uint64_t zip_size(const struct zip *z);

/* Write a part into buf[ZIP_HEADER_MAX]; each returns its length. */
size_t zip_header(const struct zip *z, uint64_t i, uint32_t crc,
		  unsigned char *buf);
size_t zip_entry(const struct zip *z, uint64_t i, uint32_t crc,
		 unsigned char *buf);
size_t zip_end(const struct zip *z, unsigned char *buf);

/* Return the last i in [0, count) with start[i] <= off. */
uint64_t zip_find_member(const struct zip *z, uint64_t off);

/* Return the last i in [0, count] with zip_entry_at(i) <= off. */
uint64_t zip_find_entry(const struct zip *z, uint64_t off);

#endif
