/* SPDX-License-Identifier: BSD-2-Clause
 * Writing the integrity sidecar check.zr (FORMAT.md F13). */
#include "sums_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/le.h"
#include "format/meta.h"

#define KEPT 8192
#define COPY_BYTES ((size_t)1 << 20)

int zr_sums_start(struct zr_sums_writer *w, int dir, enum zr_kind kind)
{
	w->row = kind == ZR_RAGGED ? 16 : 8;
	w->dir = dir;
	w->fd = openat(dir, ZR_SUMS_NAME,
		       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		       0666);
	if (w->fd < 0)
		return -errno;
	if (kind == ZR_DENSE)
		return 0;
	w->kept = malloc(KEPT * sizeof(uint64_t));
	if (!w->kept)
		return -ENOMEM;
	/* Not every file system has O_TMPFILE, or removes what is open. */
	w->dims_fd = openat(dir, ZR_DIMS_NAME,
			    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
	return w->dims_fd < 0 ? -errno : 0;
}

static int flush_dims(struct zr_sums_writer *w)
{
	int rc = zr_pwrite(w->dims_fd, w->kept, 8 * w->kept_count,
			   8 * w->kept_from);

	if (rc)
		return rc;
	w->kept_from += w->kept_count;
	w->kept_count = 0;
	return 0;
}

int zr_sums_add_dims(struct zr_sums_writer *w, const uint64_t *dims,
		     size_t count)
{
	int rc = 0;

	/* After a roll back: what is kept may be of records that are gone. */
	if (w->dims != w->kept_from + w->kept_count) {
		if (w->dims >= w->kept_from) {
			w->kept_count = (size_t)(w->dims - w->kept_from);
		} else {
			w->kept_count = 0;
			w->kept_from = w->dims;
		}
	}
	if (w->kept_count + count > KEPT)
		rc = flush_dims(w);
	if (rc)
		return rc;
	for (size_t i = 0; i < count; i++)
		zr_put_le64(&w->kept[w->kept_count + i], dims[i]);
	w->kept_count += count;
	w->dims += count;
	return 0;
}

int zr_sums_write_rows(struct zr_sums_writer *w, const unsigned char *rows,
		       uint64_t first, size_t count)
{
	return zr_pwrite(w->fd, rows, count * w->row,
			 ZR_SUMS_HEAD + first * w->row);
}

static int place_dims(struct zr_sums_writer *w, uint64_t to, unsigned char *buf)
{
	uint64_t left = 8 * w->dims, at = 0;
	int rc = zr_sums_add_dims(w, NULL, 0); /* drops what was rolled back */

	if (!rc)
		rc = flush_dims(w);
	while (left && !rc) {
		size_t n = left < COPY_BYTES ? (size_t)left : COPY_BYTES;

		rc = zr_pread(w->dims_fd, buf, n, at);
		if (!rc)
			rc = zr_pwrite(w->fd, buf, n, to + at);
		at += n;
		left -= n;
	}
	close(w->dims_fd);
	w->dims_fd = -1;
	if (!rc && unlinkat(w->dir, ZR_DIMS_NAME, 0))
		rc = -errno;
	return rc == -ENODATA ? -EIO : rc;
}

/* The hash over the head and over the bytes [ZR_SUMS_HEAD, end) of the file. */
static int hash_file(struct zr_sums_writer *w, const unsigned char *head,
		     uint64_t end, unsigned char *buf, uint64_t *hash)
{
	struct zr_hasher *h = zr_hasher_new();
	uint64_t at = ZR_SUMS_HEAD;
	int rc = h ? 0 : -ENOMEM;

	if (!rc)
		zr_hasher_add(h, head, ZR_SUMS_HEAD - 8);
	while (at < end && !rc) {
		size_t n =
			end - at < COPY_BYTES ? (size_t)(end - at) : COPY_BYTES;

		rc = zr_pread(w->fd, buf, n, at);
		if (!rc)
			zr_hasher_add(h, buf, n);
		at += n;
	}
	if (!rc)
		*hash = zr_hasher_end(h);
	zr_hasher_free(h);
	return rc == -ENODATA ? -EIO : rc;
}

int zr_sums_finish(struct zr_sums_writer *w, uint64_t records, uint64_t tail,
		   const unsigned char *meta_head)
{
	uint64_t rows_end = ZR_SUMS_HEAD + records * w->row;
	uint64_t end = rows_end + 8 * w->dims, hash = 0;
	unsigned char head[ZR_SUMS_HEAD] = "ZRCHECK1";
	unsigned char *buf = malloc(COPY_BYTES);
	int rc = buf ? 0 : -ENOMEM;

	zr_put_le64(head + 8, records);
	zr_put_le64(head + 16, tail);
	zr_put_le64(head + 24, zr_hash(meta_head, ZR_META_TABLE));
	zr_put_le64(head + 32, w->dict_hash);
	if (!rc && w->dims_fd >= 0)
		rc = place_dims(w, rows_end, buf);
	if (!rc && ftruncate(w->fd, (off_t)end))
		rc = -errno;
	if (!rc)
		rc = hash_file(w, head, end, buf, &hash);
	zr_put_le64(head + 56, hash);
	if (!rc)
		rc = zr_pwrite(w->fd, head, sizeof(head), 0);
	if (!rc)
		rc = zr_sync(w->fd);
	free(buf);
	return rc;
}

void zr_sums_end(struct zr_sums_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->dims_fd >= 0)
		close(w->dims_fd);
	free(w->kept);
}
