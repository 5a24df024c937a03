/* SPDX-License-Identifier: BSD-2-Clause
 * Packed containers: taken apart, repaired where asked, written to disk. */
#include "pack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "base/le.h"
#include "format/sums.h"

static uint8_t *take_part(struct input *in, size_t len)
{
	uint8_t *p = copy_of(in->p, len);

	in->p += len;
	in->left -= len;
	return p;
}

/* The numbers of the header from the files that are there, and its codec one
 * that exists. */
static void repair_head(struct pack *p)
{
	zr_put_le64(p->head, p->table_size / 16);
	zr_put_le64(p->head + 8, p->data_size);
	memset(p->head + 20, 0, 11);
	p->head[31] %= 3;
	p->flags &= ~(PACK_DICT | PACK_CUT);
	if (p->head[31] == 2)
		p->flags |= PACK_DICT;
}

/* The hash in each row of the sidecar whose record has bytes. */
static void seal_rows(struct pack *p)
{
	size_t row = memmem(p->head, PACK_HEAD, "item_shape", 10) ? 8 : 16;
	size_t at = 64;

	for (size_t i = 0; i < p->table_size / 16; i++, at += row) {
		const uint8_t *e = p->table + 16 * i;
		uint64_t offset = zr_le64(e), stored = zr_le32(e + 8);

		if (p->check_size < at + row)
			break;
		if (offset > p->data_size || stored > p->data_size - offset)
			continue;
		stored = zr_hash(p->data + offset, (size_t)stored);
		zr_put_le64(p->check + at, zr_record_hash(e, stored));
	}
}

/* Whoever makes a sidecar can put its hashes right, a fuzzer cannot. */
static void seal(struct pack *p)
{
	struct zr_hasher *h;

	if (p->check_size < 64)
		return;
	seal_rows(p);
	memcpy(p->check, "ZRCHECK1", 8);
	memcpy(p->check + 8, p->head, 16);
	zr_put_le64(p->check + 24, zr_hash(p->head, PACK_HEAD));
	zr_put_le64(p->check + 32,
		    p->flags & PACK_DICT ? zr_hash(p->dict, p->dict_size) : 0);
	must((h = zr_hasher_new()));
	zr_hasher_add(h, p->check, 56);
	zr_hasher_add(h, p->check + 64, p->check_size - 64);
	zr_put_le64(p->check + 56, zr_hasher_end(h));
	zr_hasher_free(h);
}

void pack_read(struct pack *p, const uint8_t *data, size_t size, unsigned force)
{
	struct input in = { data, size };
	size_t *sizes[] = { &p->head_size, &p->table_size, &p->dict_size,
			    &p->check_size };
	size_t left;

	memset(p, 0, sizeof(*p));
	p->flags = (unsigned)take(&in, 1) | force;
	p->how = (unsigned)take(&in, 1);
	for (int i = 0; i < 4; i++)
		*sizes[i] = (size_t)take(&in, 2);
	left = in.left;
	if (p->head_size > PACK_HEAD)
		p->head_size = PACK_HEAD;
	for (int i = 0; i < 4; i++) {
		if (*sizes[i] > left)
			*sizes[i] = left;
		left -= *sizes[i];
	}
	p->data_size = left;
	if (p->head_size)
		memcpy(p->head, in.p, p->head_size);
	in.p += p->head_size;
	in.left -= p->head_size;
	p->table = take_part(&in, p->table_size);
	p->dict = take_part(&in, p->dict_size);
	p->check = take_part(&in, p->check_size);
	p->data = take_part(&in, p->data_size);
	if (p->flags & PACK_RECORD)
		repair_head(p);
	if (p->flags & PACK_SEAL)
		seal(p);
}

void pack_free(struct pack *p)
{
	free(p->table);
	free(p->dict);
	free(p->check);
	free(p->data);
}

/* ---- On disk --------------------------------------------------------------
 */

static char dir[512];
static const char *const names[] = { "meta.zr", "data.zr", "dict.zr",
				     "check.zr" };

static void remove_dir(void)
{
	char path[600];

	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
}

static void make_dir(void)
{
	const char *base = getenv("TMPDIR");

	if (!base || !*base)
		base = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
	snprintf(dir, sizeof(dir), "%s/zrfuzz.XXXXXX", base);
	must(mkdtemp(dir));
	atexit(remove_dir);
}

/* File number `i` with these bytes, or none. */
static void put(int i, int exists, const void *a, size_t a_size, const void *b,
		size_t b_size)
{
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
	if (!exists) {
		unlink(path);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	must(fd >= 0);
	must(pwrite(fd, a, a_size, 0) == (ssize_t)a_size);
	must(pwrite(fd, b, b_size, (off_t)a_size) == (ssize_t)b_size);
	close(fd);
}

const char *pack_write(const struct pack *p)
{
	if (!dir[0])
		make_dir();
	if (p->flags & PACK_CUT)
		put(0, 1, p->head, p->head_size, "", 0);
	else
		put(0, 1, p->head, PACK_HEAD, p->table, p->table_size);
	put(1, 1, p->data, p->data_size, "", 0);
	put(2, (p->flags & PACK_DICT) != 0, p->dict, p->dict_size, "", 0);
	put(3, (p->flags & PACK_CHECK) != 0, p->check, p->check_size, "", 0);
	return dir;
}
