/* SPDX-License-Identifier: BSD-2-Clause
 * An array in Fortran order, read in C order. A row, that is all of one index
 * of axis 0, lies scattered over the whole file, an element at a time; but
 * those of neighbouring rows lie side by side. So as many rows are read
 * together as a block has room for: fewer passes over the file, in bounded
 * memory. */
#include "turn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


#define BLOCK_BYTES ((uint64_t)32 << 20)
#define PIECE_BYTES ((uint64_t)1 << 20)

struct turn {
	const char *name;
	int fd;
	uint64_t offset;
	struct zr_shape shape;
	uint64_t item, row, rows; /* bytes, bytes, in all */
	uint64_t block_rows;      /* there is room for so many */
	uint64_t first, count;    /* rows that are in the block */
	unsigned char *block;
	unsigned char *piece; /* a run of elements as they lie in the file */
	uint64_t piece_rows;
};

static uint64_t at_least_1(uint64_t n)
{
	return n ? n : 1;
}

int turn_open(struct turn **out, const char *name, const struct zr_npy *npy,
	      int fd, uint64_t offset)
{
	struct turn *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return cli_fail("no memory");
	t->name = name;
	t->fd = fd;
	t->offset = offset;
	t->shape = npy->shape;
	t->item = npy->dtype.itemsize;
	t->rows = npy->shape.dims[0];
	if (!npy->data_bytes)
		return CLI_OK;
	t->row = npy->data_bytes / t->rows;
	t->block_rows = at_least_1(BLOCK_BYTES / t->row);
	if (t->block_rows > t->rows)
		t->block_rows = t->rows;
	t->piece_rows = at_least_1(PIECE_BYTES / t->item);
	if (t->piece_rows > t->block_rows)
		t->piece_rows = t->block_rows;
	t->block = malloc(t->block_rows * t->row);
	t->piece = malloc(t->piece_rows * t->item);
	if (!t->block || !t->piece)
		return cli_fail("%s: no memory for an array in Fortran order",
				name);
	return CLI_OK;
}

static int read_piece(struct turn *t, uint64_t at, size_t len)
{
	unsigned char *p = t->piece;

	while (len) {
		ssize_t n = pread(t->fd, p, len, (off_t)(t->offset + at));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return cli_fail("%s: reading: %s", t->name,
					n ? strerror(errno)
					  : "it was cut meanwhile");
		p += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return CLI_OK;
}

/* Copies of a constant size are single instructions. */
static void scatter(unsigned char *to, uint64_t row, const unsigned char *from,
		    uint64_t item, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++, to += row, from += item) {
		switch (item) {
		case 1:
			*to = *from;
			break;
		case 2:
			memcpy(to, from, 2);
			break;
		case 4:
			memcpy(to, from, 4);
			break;
		case 8:
			memcpy(to, from, 8);
			break;
		default:
			memcpy(to, from, item);
		}
	}
}

/* Element `column` of each row of the block, as the file counts them; it is
 * `to` bytes into a row. */
static int read_column(struct turn *t, uint64_t column, uint64_t to)
{
	for (uint64_t i = 0; i < t->count; i += t->piece_rows) {
		uint64_t n = t->count - i < t->piece_rows ? t->count - i
							  : t->piece_rows;
		uint64_t at = column * t->rows + t->first + i;

		if (read_piece(t, at * t->item, n * t->item))
			return CLI_FAILED;
		scatter(t->block + i * t->row + to, t->row, t->piece, t->item,
			n);
	}
	return CLI_OK;
}

/* Step to the next column, in which axis 1 is the fastest, and return where it
 * is in a row, in which the last axis is. */
static uint64_t next_column(const struct turn *t, uint64_t *place, uint64_t to)
{
	uint64_t stride = t->row;

	for (uint32_t d = 1; d < t->shape.rank; d++) {
		stride /= t->shape.dims[d];
		to += stride;
		if (++place[d] < t->shape.dims[d])
			break;
		to -= stride * place[d];
		place[d] = 0;
	}
	return to;
}

static int fill_block(struct turn *t, uint64_t first)
{
	uint64_t place[ZR_RANK_MAX] = { 0 }, to = 0;
	uint64_t columns = t->row / t->item;

	t->first = first;
	t->count = t->rows - first < t->block_rows ? t->rows - first
						   : t->block_rows;
	for (uint64_t i = 0; i < columns; i++) {
		if (read_column(t, i, to)) {
			t->count = 0;
			return CLI_FAILED;
		}
		to = next_column(t, place, to);
	}
	return CLI_OK;
}

int turn_read(struct turn *t, uint64_t at, void *buf, size_t len)
{
	unsigned char *p = buf;

	while (len) {
		uint64_t row = at / t->row, start = t->first * t->row;
		uint64_t have = t->count * t->row;
		size_t n;

		if (at < start || at - start >= have) {
			if (fill_block(t, row))
				return CLI_FAILED;
			continue;
		}
		have -= at - start;
		n = have < len ? (size_t)have : len;
		memcpy(p, t->block + (at - start), n);
		p += n;
		at += n;
		len -= n;
	}
	return CLI_OK;
}

void turn_close(struct turn *t)
{
	if (!t)
		return;
	free(t->block);
	free(t->piece);
	free(t);
}
