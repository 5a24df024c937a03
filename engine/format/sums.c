/* SPDX-License-Identifier: BSD-2-Clause
 * Reading the integrity sidecar check.zr (FORMAT.md F13). */
#include "sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/io.h"
#include "base/le.h"
#include "meta.h"

uint64_t zr_record_hash(const unsigned char *entry, uint64_t stored_hash)
{
	unsigned char both[ZR_ENTRY_BYTES + 8];

	memcpy(both, entry, ZR_ENTRY_BYTES);
	zr_put_le64(both + ZR_ENTRY_BYTES, stored_hash);
	return zr_hash(both, sizeof(both));
}

/* Of everything but itself. */
static uint64_t self_hash(struct zr_hasher *h, const unsigned char *file,
			  size_t size)
{
	zr_hasher_add(h, file, ZR_SUMS_HEAD - 8);
	zr_hasher_add(h, file + ZR_SUMS_HEAD, size - ZR_SUMS_HEAD);
	return zr_hasher_end(h);
}

/* Returns what is wrong, or NULL. */
static const char *look(struct zr_sums *s, struct zr_hasher *h, uint64_t size,
			const struct zr_meta *meta, uint64_t head_hash,
			uint64_t dict_hash)
{
	const unsigned char *p = s->file;
	uint64_t rows, end = 0;

	if (memcmp(p, "ZRCHECK1", 8))
		return "it does not begin with ZRCHECK1";
	if (zr_le64(p + 56) != self_hash(h, p, (size_t)size))
		return "it is damaged";
	if (zr_le64(p + 8) != meta->length ||
	    zr_le64(p + 16) != meta->tail_offset)
		return "it has another number of records or bytes";
	if (zr_le64(p + 24) != head_hash)
		return "it does not fit the header in meta.zr";
	if (zr_le64(p + 32) != dict_hash)
		return "it does not fit dict.zr";
	if (!zr_mul(meta->length, s->row, &rows) || rows > size - ZR_SUMS_HEAD)
		return "it is too short";
	s->rows = p + ZR_SUMS_HEAD;
	s->dims = s->rows + rows;
	s->dims_count = (size - ZR_SUMS_HEAD - rows) / 8;
	for (uint64_t i = 0; s->row == 16 && i < meta->length; i++) {
		uint64_t before = end;

		end = zr_le64(s->rows + i * s->row + 8);
		if (end < before || end - before > ZR_RANK_MAX ||
		    end > s->dims_count)
			return "its shapes are out of order";
	}
	if (end != s->dims_count ||
	    size != ZR_SUMS_HEAD + rows + 8 * s->dims_count)
		return "it has another length than its records need";
	return NULL;
}

int zr_sums_read(struct zr_sums *s, int fd, uint64_t size,
		 const struct zr_meta *meta, uint64_t head_hash,
		 uint64_t dict_hash, const char *path, struct zr_error *err)
{
	const char *wrong = "it is too short";
	struct zr_hasher *h = NULL;
	int rc = 0;

	s->row = meta->kind == ZR_RAGGED ? 16 : 8;
	if (size >= ZR_SUMS_HEAD) {
		s->file = zr_fits_size(size) ? malloc((size_t)size) : NULL;
		h = s->file ? zr_hasher_new() : NULL;
		if (!h)
			return zr_fail(err, -ENOMEM, path,
				       "no memory for check.zr");
		rc = zr_pread(fd, s->file, (size_t)size, 0);
		if (!rc)
			wrong = look(s, h, size, meta, head_hash, dict_hash);
		zr_hasher_free(h);
		if (rc)
			return zr_fail_sys(err, rc == -ENODATA ? EIO : -rc,
					   path, "reading check.zr");
	}
	if (!wrong)
		return 0;
	return zr_fail(err, -EUCLEAN, path,
		       "its checksums in check.zr are not usable: %s; to read "
		       "without them: --no-checksums, or zrecordfs -o "
		       "checksums=off; to copy: zrecord recover --no-checksums",
		       wrong);
}

void zr_sums_free(struct zr_sums *s)
{
	free(s->file);
	s->file = NULL;
}

uint64_t zr_sums_hash(const struct zr_sums *s, uint64_t id)
{
	return zr_le64(s->rows + id * s->row);
}

bool zr_sums_shape(const struct zr_sums *s, uint64_t id, struct zr_shape *shape)
{
	uint64_t first = id ? zr_le64(s->rows + (id - 1) * s->row + 8) : 0;
	uint64_t end = zr_le64(s->rows + id * s->row + 8);

	shape->rank = (uint32_t)(end - first);
	for (uint32_t i = 0; i < shape->rank; i++) {
		shape->dims[i] = zr_le64(s->dims + 8 * (first + i));
		if (!shape->dims[i])
			return false;
	}
	return true;
}
