/* SPDX-License-Identifier: BSD-2-Clause
 * Where a record lies: one table entry, checked before anyone uses it
 * (FORMAT.md F4). */
#include <errno.h>

#include "base/error.h"
#include "base/le.h"
#include "container.h"

/* The byte after those of a record; 2^64-1 if there is no such number. */
static uint64_t end_of(const struct zr_entry *e)
{
	return e->offset > UINT64_MAX - e->stored ? UINT64_MAX
						  : e->offset + e->stored;
}

/* Returns NULL if the entry is good; else what is wrong, and the two numbers
 * that disagree. */
static const char *entry_wrong(const struct zr_container *c,
			       const struct zr_entry *e, uint64_t *expected,
			       uint64_t *found)
{
	const struct zr_meta *m = &c->meta;

	*expected = 1;
	*found = 0;
	if (!e->stored)
		return "its bytes in data.zr: expected at least";
	if (!e->logic)
		return "its bytes: expected at least";
	*expected = ZR_RECORD_MAX;
	*found = e->logic;
	if (e->logic > ZR_RECORD_MAX)
		return "its bytes: expected at most";
	*expected = m->tail_offset;
	*found = end_of(e);
	if (*found > m->tail_offset)
		return "where it ends in data.zr: expected at most";
	*expected = m->record_bytes;
	*found = e->logic;
	if (m->kind == ZR_DENSE && e->logic != m->record_bytes)
		return "its bytes, which are as many in all: expected";
	*expected = e->logic;
	*found = e->stored;
	if (m->codec == ZR_RAW && e->stored != e->logic)
		return "its bytes in data.zr, raw: expected";
	*expected = zr_decode_bound(e->stored);
	*found = e->logic;
	if (m->codec != ZR_RAW && e->logic > *expected)
		return "its bytes, by those in data.zr: expected at most";
	return NULL;
}

/* Data that is missing is no fault of the entry. */
static int data_cut(const struct zr_container *c, uint64_t id,
		    const struct zr_entry *e, struct zr_error *err)
{
	return zr_fail_at(
		err, -EBADMSG, c->data_path,
		(struct zr_facts){ id, e->offset, end_of(e),
				   c->meta.tail_offset },
		"record %llu: the file ends before it does: expected at least "
		"%llu bytes, found %llu",
		(unsigned long long)id, (unsigned long long)end_of(e),
		(unsigned long long)c->meta.tail_offset);
}

int zr_locate(const struct zr_container *c, uint64_t id, struct zr_entry *out,
	      struct zr_error *err)
{
	uint64_t expected, found;
	const unsigned char *p;
	const char *wrong;

	*out = (struct zr_entry){ 0, 0, 0 };
	if (id >= c->meta.length)
		return zr_fail_at(
			err, -ERANGE, c->path,
			(struct zr_facts){ id, ZR_NONE, c->meta.length, id },
			"no record %llu: it has %llu, from 0",
			(unsigned long long)id,
			(unsigned long long)c->meta.length);
	p = c->table + id * ZR_ENTRY_BYTES;
	out->offset = zr_le64(p);
	out->stored = zr_le32(p + 8);
	out->logic = zr_le32(p + 12);
	wrong = entry_wrong(c, out, &expected, &found);
	if (!wrong)
		return 0;
	if (end_of(out) > c->meta.tail_offset && end_of(out) <= c->header_tail)
		return data_cut(c, id, out, err);
	return zr_fail_at(
		err, -EBADMSG, c->path,
		(struct zr_facts){ id, ZR_META_TABLE + id * ZR_ENTRY_BYTES,
				   expected, found },
		"record %llu: its entry in meta.zr is damaged: %s %llu, "
		"found %llu",
		(unsigned long long)id, wrong, (unsigned long long)expected,
		(unsigned long long)found);
}

uint64_t zr_record_bound(const struct zr_container *c, uint64_t id)
{
	struct zr_entry e;

	if (zr_locate(c, id, &e, NULL))
		return 0;
	return e.logic;
}

uint64_t zr_logical_bytes(const struct zr_container *c)
{
	uint64_t sum = 0;
	struct zr_entry e;

	for (uint64_t id = 0; id < c->meta.length; id++)
		if (!zr_locate(c, id, &e, NULL))
			sum += e.logic;
	return sum;
}
