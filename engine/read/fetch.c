/* SPDX-License-Identifier: BSD-2-Clause
 * Bytes of one record from data.zr, decoded (FORMAT.md F4, F5). */
#include "fetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "base/copy.h"
#include "base/error.h"
#include "base/io.h"
#include "base/le.h"
#include "format/generation.h"

static int no_memory(struct zr_error *err, const struct zr_container *c,
		     uint64_t id)
{
	return zr_fail_at(err, -ENOMEM, c->path,
			  (struct zr_facts){ id, ZR_NONE, ZR_NONE, ZR_NONE },
			  "record %llu: no memory", (unsigned long long)id);
}

int zr_fault(const struct zr_container *c, uint64_t id, struct zr_error *err)
{
	return zr_fail_at(
		err, -EIO, c->data_path,
		(struct zr_facts){ id, ZR_NONE, c->meta.tail_offset, ZR_NONE },
		"record %llu: the file ends before it; it was cut "
		"after it was opened",
		(unsigned long long)id);
}

int zr_unless_cut(int rc, const struct zr_container *c, const uint64_t *ids,
		  size_t count, struct zr_error *err)
{
	struct zr_entry e;
	struct stat st;

	if ((rc && rc != -EBADMSG) || !c->data.mapped)
		return rc;
	if (fstat(c->data_fd, &st))
		return zr_fail(err, -EIO, c->data_path,
			       "asking for its length: %s", strerror(errno));
	if ((uint64_t)st.st_size >= c->meta.tail_offset)
		return rc;
	for (size_t i = 0; i < count; i++)
		if (!zr_locate(c, ids[i], &e, NULL) &&
		    e.offset + e.stored > (uint64_t)st.st_size)
			return zr_fault(c, ids[i], err);
	return rc;
}

static int read_stored(const struct zr_container *c, uint64_t id, uint64_t off,
		       void *dst, size_t len, struct zr_error *err)
{
	int rc;

	if (c->data.bytes) {
		memcpy(dst, c->data.bytes + off, len);
		return 0;
	}
	rc = zr_pread(c->data_fd, dst, len, off);
	if (!rc)
		return 0;
	if (rc == -ENODATA)
		return zr_fault(c, id, err);
	return zr_fail_at(err, rc == -ENOMEM ? rc : -EIO, c->data_path,
			  (struct zr_facts){ id, off, len, ZR_NONE },
			  "record %llu: reading it: %s",
			  (unsigned long long)id, strerror(-rc));
}

static int bad_record(const struct zr_container *c, uint64_t id,
		      const struct zr_entry *e, const char *why,
		      struct zr_error *err)
{
	return zr_fail_at(err, -EBADMSG, c->data_path,
			  (struct zr_facts){ id, e->offset, e->logic, ZR_NONE },
			  "record %llu: its %u bytes at byte %llu do not decode "
			  "to %u: %s",
			  (unsigned long long)id, e->stored,
			  (unsigned long long)e->offset, e->logic, why);
}

/* What a decoder returned, with its details. */
static int decoded(const struct zr_container *c, uint64_t id,
		   const struct zr_entry *e, int rc, const char *why,
		   struct zr_error *err)
{
	if (rc == -EBADMSG)
		return bad_record(c, id, e, why, err);
	return rc == -ENOMEM ? no_memory(err, c, id) : rc;
}

/* A decoder, and the stored bytes: in place, or read into the lane. */
static int prepare(const struct zr_container *c, struct zr_lane *lane,
		   uint64_t id, const struct zr_entry *e,
		   const unsigned char **stored, struct zr_error *err)
{
	if (!lane->decoder && zr_decoder_new(&lane->decoder, c->dict))
		return no_memory(err, c, id);
	if (c->data.bytes) {
		*stored = c->data.bytes + e->offset;
		return 0;
	}
	if (zr_buffer_room(&lane->stored, e->stored))
		return no_memory(err, c, id);
	*stored = lane->stored.p;
	return read_stored(c, id, e->offset, lane->stored.p, e->stored, err);
}

int zr_compare(const struct zr_container *c, const struct zr_lane *lane,
	       uint64_t id, const void *stored, size_t len,
	       struct zr_error *err)
{
	uint64_t expected, found;

	if (!lane->check)
		return 0;
	expected = zr_sums_hash(&c->sums, id);
	found = zr_record_hash(c->table + id * ZR_ENTRY_BYTES,
			       zr_hash(stored, len));
	if (found == expected)
		return 0;
	return zr_fail_at(err, -EBADMSG, c->data_path,
			  (struct zr_facts){ id, ZR_NONE, expected, found },
			  "record %llu: wrong checksum: expected %016llx, "
			  "found %016llx",
			  (unsigned long long)id, (unsigned long long)expected,
			  (unsigned long long)found);
}

int zr_fetch_part(const struct zr_container *c, uint64_t id,
		  const struct zr_entry *e, uint64_t offset, void *dst,
		  size_t len, struct zr_error *err)
{
	return read_stored(c, id, e->offset + offset, dst, len, err);
}

int zr_fetch(const struct zr_container *c, struct zr_lane *lane, uint64_t id,
	     const struct zr_entry *e, void *dst, struct zr_error *err)
{
	const unsigned char *stored = NULL;
	const char *why;
	int rc;

	if (c->meta.codec == ZR_RAW && c->data.bytes) {
		/* First, since it brings into the cache what is copied then. */
		stored = c->data.bytes + e->offset;
		rc = zr_compare(c, lane, id, stored, e->logic, err);
		if (!rc)
			zr_copy_record(dst, stored, e->logic, lane->stream);
		return rc;
	}
	if (c->meta.codec == ZR_RAW) {
		rc = read_stored(c, id, e->offset, dst, e->logic, err);
		return rc ? rc : zr_compare(c, lane, id, dst, e->logic, err);
	}
	rc = prepare(c, lane, id, e, &stored, err);
	if (!rc)
		rc = zr_compare(c, lane, id, stored, e->stored, err);
	if (rc)
		return rc;
	rc = zr_decode(lane->decoder, dst, e->logic, stored, e->stored, &why);
	return decoded(c, id, e, rc, why, err);
}

int zr_fetch_prefix(const struct zr_container *c, struct zr_lane *lane,
		    uint64_t id, const struct zr_entry *e, void *dst,
		    size_t len, struct zr_error *err)
{
	const unsigned char *stored = NULL;
	const char *why;
	int rc;

	if (c->meta.codec == ZR_RAW)
		return read_stored(c, id, e->offset, dst, len, err);
	rc = prepare(c, lane, id, e, &stored, err);
	if (rc)
		return rc;
	rc = zr_decode_prefix(lane->decoder, dst, len, e->logic, stored,
			      e->stored, &why);
	return decoded(c, id, e, rc, why, err);
}

static int bad_shape(const struct zr_container *c, uint64_t id,
		     uint64_t expected, uint64_t found, const char *what,
		     struct zr_error *err)
{
	return zr_fail_at(err, -EBADMSG, c->data_path,
			  (struct zr_facts){ id, ZR_NONE, expected, found },
			  "record %llu: its shape is damaged: %s %llu, found "
			  "%llu",
			  (unsigned long long)id, what,
			  (unsigned long long)expected,
			  (unsigned long long)found);
}

/* A shape that the sidecar tells is not proven until the record is seen. */
static int same_as_planned(const struct zr_container *c, uint64_t id,
			   const struct zr_shape *shape, struct zr_error *err)
{
	struct zr_shape planned;

	if (zr_sums_shape(&c->sums, id, &planned) &&
	    planned.rank == shape->rank &&
	    !memcmp(planned.dims, shape->dims, 8 * (size_t)shape->rank))
		return 0;
	return zr_fail_at(err, -EBADMSG, c->data_path,
			  (struct zr_facts){ id, ZR_NONE, ZR_NONE, ZR_NONE },
			  "record %llu: has another shape than check.zr says",
			  (unsigned long long)id);
}

static int layout_decode(struct zr_layout *out, const struct zr_container *c,
			 uint64_t id, const unsigned char *p, size_t len,
			 uint32_t logic, struct zr_error *err)
{
	uint64_t items = 1, itemsize = c->meta.dtype.itemsize;
	unsigned rank = p[0];

	if (rank > ZR_RANK_MAX)
		return bad_shape(c, id, ZR_RANK_MAX, rank,
				 "dimensions: expected at most", err);
	out->prefix = 1 + 8 * (size_t)rank;
	if (out->prefix >= logic || out->prefix > len)
		return bad_shape(c, id, out->prefix + itemsize, logic,
				 "bytes of the record: expected at least", err);
	out->bytes = logic - out->prefix;
	out->shape.rank = rank;
	for (unsigned i = 0; i < rank; i++) {
		out->shape.dims[i] = zr_le64(p + 1 + 8 * i);
		/* A dimension of 0 makes 0 elements, which is refused below
		 * whatever follows it. */
		if (!zr_mul(items, out->shape.dims[i], &items))
			return bad_shape(c, id, out->bytes / itemsize,
					 out->shape.dims[i],
					 "a dimension: expected at most", err);
	}
	if (out->bytes % itemsize || items != out->bytes / itemsize)
		return bad_shape(c, id, out->bytes / itemsize, items,
				 "elements: expected", err);
	return c->sums.file ? same_as_planned(c, id, &out->shape, err) : 0;
}

int zr_layout_decode(struct zr_layout *out, const struct zr_container *c,
		     uint64_t id, const unsigned char *p, size_t len,
		     uint32_t logic, struct zr_error *err)
{
	int rc = layout_decode(out, c, id, p, len, logic, err);

	if (rc != -EBADMSG ||
	    !zr_is_g0_record(p, len, logic, c->meta.dtype.itemsize))
		return rc;
	return zr_fail_at(err, rc, c->data_path,
			  (struct zr_facts){ id, ZR_NONE, ZR_NONE, ZR_NONE },
			  "record %llu: is one of loaderx %s; that is no "
			  "damage, but only those of loaderx %s are read",
			  (unsigned long long)id, zr_generation_writers(ZR_G0),
			  zr_generation_writers(ZR_G1));
}
