/* SPDX-License-Identifier: BSD-2-Clause
 * Reading what was appended: one record, a part, a gather. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <zstd.h>

#include "base/le.h"
#include "make.h"
#include "read/reader.h"
#include "scratch.h"

static struct scratch s;

static void setup(void)
{
	scratch_make(&s);
}

static void teardown(void)
{
	scratch_remove(&s);
}

TestSuite(reader, .init = setup, .fini = teardown);

static const enum zr_codec codecs[] = { ZR_RAW, ZR_ZSTD, ZR_ZSTD_DICT };

struct opened {
	struct zr_container *c;
	struct zr_reader *r;
	struct zr_executor *ex;
};

/* A new container of the kind, with a reader on `threads` threads. */
static struct opened open_new(enum zr_codec codec, size_t count, size_t words,
			      unsigned threads)
{
	char name[64];
	const char *path;
	struct opened o = { 0 };
	struct zr_error err;
	int rc;

	snprintf(name, sizeof(name), "c%d.%zu.%zu.%u", (int)codec, count, words,
		 threads);
	path = scratch_path(&s, name);
	rc = make_container(path, codec, count, words, NULL, &err);
	cr_assert(rc == 0, "%s", err.message);
	rc = zr_open(&o.c, path, NULL, &err);
	cr_assert(rc == 0, "%s", err.message);
	if (threads)
		cr_assert(zr_executor_new(&o.ex, threads) == 0);
	cr_assert(zr_reader_new(&o.r, o.c, o.ex) == 0);
	return o;
}

static void close_all(struct opened *o)
{
	zr_reader_free(o->r);
	zr_close(o->c);
	zr_executor_free(o->ex);
}

static bool is_record(const void *p, uint64_t id, uint64_t items)
{
	for (uint64_t j = 0; j < items; j++) {
		int32_t v;

		memcpy(&v, (const char *)p + 4 * j, 4);
		if (v != make_item(id, j))
			return false;
	}
	return true;
}

Test(reader, gathers_dense_in_request_order_with_repeats)
{
	enum { count = 3000, words = 64, ids = 5000 };
	static uint64_t id[ids];
	char *dst = malloc(ids * words * 4);

	for (size_t i = 0; i < ids; i++)
		id[i] = (i * 7919 + i / 3) % count;
	for (size_t i = 0; i < 9; i++) {
		struct opened o = open_new(codecs[i % 3], count, words,
					   (unsigned[]){ 0, 1, 4 }[i / 3]);
		struct zr_error err;

		memset(dst, 0xa5, ids * words * 4);
		cr_expect(zr_gather_dense(o.r, id, ids, dst, ids * words * 4,
					  &err) == 0);
		for (size_t k = 0; k < ids; k++)
			cr_assert(is_record(dst + k * words * 4, id[k], words),
				  "case %zu place %zu", i, k);
		close_all(&o);
	}
	free(dst);
}

Test(reader, gathers_ragged_packed_with_shapes)
{
	enum { count = 2000, ids = 3000 };
	static uint64_t id[ids];

	for (size_t i = 0; i < ids; i++)
		id[i] = (i * 7919) % count;
	for (size_t i = 0; i < 9; i++) {
		struct opened o = open_new(codecs[i % 3], count, 0,
					   (unsigned[]){ 0, 1, 4 }[i / 3]);
		struct zr_ragged b = { 0 };
		void *block = NULL;

		for (int again = 0; again < 2; again++) {
			cr_assert(zr_gather_ragged(o.r, id, ids, &b, NULL) ==
				  0);
			cr_expect(!again || b.block == block, "reused");
			block = b.block;
			cr_assert(b.count == ids);
			cr_expect(b.offsets[0] == 0 && b.dim_offsets[0] == 0);
			for (size_t k = 0; k < ids; k++) {
				uint64_t dims[4];
				uint32_t rank = make_shape(id[k], dims);
				uint64_t at = b.dim_offsets[k];

				cr_assert(b.dim_offsets[k + 1] - at == rank);
				cr_assert(!memcmp(b.dims + at, dims, 8 * rank));
				cr_assert(b.offsets[k + 1] - b.offsets[k] ==
					  4 * make_items(id[k]));
				cr_assert(is_record(b.values + b.offsets[k],
						    id[k], make_items(id[k])));
			}
		}
		zr_ragged_free(&b);
		cr_expect(b.values == NULL);
		close_all(&o);
	}
}

Test(reader, gathers_ragged_into_the_callers_buffers)
{
	struct opened o = open_new(ZR_ZSTD, 50, 0, 0);
	uint64_t id[3] = { 4, 49, 4 }, offsets[4], dims[12], dim_offsets[4];
	unsigned char values[20000];
	struct zr_ragged b = { 0 };
	size_t values_size, dims_size;
	struct zr_error err;

	cr_assert(zr_ragged_bound(o.c, id, 3, &values_size, &dims_size, NULL) ==
		  0);
	cr_assert(values_size <= sizeof(values) && dims_size >= 12);
	b.values = values;
	b.offsets = offsets;
	b.dims = dims;
	b.dim_offsets = dim_offsets;
	b.values_size = sizeof(values);
	b.dims_size = 12;
	b.count_size = 3;
	cr_expect(zr_gather_ragged(o.r, id, 3, &b, &err) == 0);
	cr_expect(b.block == NULL && b.values == values && b.count == 3);
	cr_expect(is_record(values + offsets[1], 49, make_items(49)));
	b.dims_size = 11;
	cr_expect(zr_gather_ragged(o.r, id, 3, &b, &err) == -EINVAL);
	cr_expect(b.count == 0);
	b.dims_size = 12;
	b.count_size = 2;
	cr_expect(zr_gather_ragged(o.r, id, 3, &b, &err) == -EINVAL);
	b.count_size = 3;
	b.values_size = values_size - 1;
	cr_expect(zr_gather_ragged(o.r, id, 3, &b, &err) == -EINVAL);
	zr_ragged_free(&b);
	cr_expect(b.values == values, "the caller's buffers are untouched");
	close_all(&o);
}

Test(reader, reads_records_and_any_part_of_them)
{
	for (size_t i = 0; i < 6; i++) {
		struct opened o =
			open_new(codecs[i % 3], 40, i < 3 ? 64 : 0, 0);
		unsigned char whole[8192], part[8192];

		for (uint64_t id = 0; id < 40; id++) {
			uint64_t items = i < 3 ? 64 : make_items(id);
			struct zr_shape shape;
			uint64_t bytes = 0;

			cr_assert(zr_read(o.r, id, whole, sizeof(whole), &bytes,
					  &shape, NULL) == 0);
			cr_assert(bytes == items * 4);
			cr_assert(is_record(whole, id, items));
			cr_expect(zr_record_bound(o.c, id) >= bytes);
			for (size_t off = 0; off <= bytes; off += 7) {
				size_t len = (off * 5) % (bytes - off + 1);

				cr_assert(zr_read_part(o.r, id, off, part, len,
						       NULL) == 0);
				cr_assert(!memcmp(part, whole + off, len));
			}
			cr_expect(zr_read_part(o.r, id, bytes, part, 1, NULL) ==
				  -EINVAL);
			cr_expect(zr_read_part(o.r, id, UINT64_MAX, part, 2,
					       NULL) == -EINVAL);
			cr_expect(zr_check(o.r, id, NULL) == 0);
		}
		close_all(&o);
	}
}

Test(reader, tells_how_much_room_a_record_needs)
{
	struct opened o = open_new(ZR_ZSTD, 10, 0, 0);
	unsigned char buf[4];
	uint64_t bytes = 0;
	struct zr_error err;

	cr_expect(zr_read(o.r, 4, buf, 4, &bytes, NULL, &err) == -EINVAL);
	cr_expect(bytes == 4 * make_items(4));
	cr_expect(err.record == 4 && err.found == 4);
	close_all(&o);
}

/* Read record `id` into exactly `room` bytes, so that a sanitizer sees the
 * next; returns what zr_read did. What fits must be right. */
static int read_into(struct zr_reader *r, uint64_t id, size_t room)
{
	unsigned char *buf = malloc(room);
	uint64_t bytes = 0, dims[4], items = make_items(id);
	uint32_t rank = make_shape(id, dims);
	struct zr_shape shape;
	int rc;

	memset(buf, 0xa5, room);
	rc = zr_read(r, id, buf, room, &bytes, &shape, NULL);
	if (rc == 0 || rc == -EINVAL)
		cr_assert(bytes == 4 * items, "%zu", room);
	if (rc == 0) {
		cr_assert(is_record(buf, id, items), "%zu", room);
		cr_assert(shape.rank == rank);
		cr_assert(!memcmp(shape.dims, dims, 8 * rank));
	}
	for (size_t i = 0; rc == -EINVAL && i < room; i++)
		cr_assert(buf[i] == 0xa5, "refused, and written");
	free(buf);
	return rc;
}

static const uint32_t check_flags[] = { 0, ZR_OPEN_CHECK,
					ZR_OPEN_NO_CHECKSUMS };
static const enum zr_placement placements[] = { ZR_PLACE_MAP, ZR_PLACE_READ };

Test(reader, reads_ragged_records_into_any_room)
{
	enum { count = 40 };

	for (size_t i = 0; i < 18; i++) {
		struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
		const char *path = scratch_path(&s, "ragged");
		bool decoded = codecs[i % 3] != ZR_RAW || i / 3 % 3 == 1;
		struct zr_container *c;
		struct zr_reader *r;
		int32_t part;

		opt.flags = check_flags[i / 3 % 3];
		opt.placement = placements[i / 9];
		cr_assert(make_container(path, codecs[i % 3], count, 0, NULL,
					 NULL) == 0);
		cr_assert(zr_open(&c, path, &opt, NULL) == 0);
		cr_assert(zr_reader_new(&r, c, NULL) == 0);
		for (uint64_t id = 0; id < count; id++) {
			size_t bytes = 4 * (size_t)make_items(id);
			size_t bound = (size_t)zr_record_bound(c, id);

			cr_expect(bound == bytes + 1 + 8 * (id % 5));
			cr_expect(read_into(r, id, bound) == 0);
			cr_expect(read_into(r, id, bound + 1000) == 0);
		}
		cr_expect(!r->record.p, "case %zu: has a copy", i);
		for (uint64_t id = 0; id < count; id++) {
			size_t bytes = 4 * (size_t)make_items(id);
			size_t bound = (size_t)zr_record_bound(c, id);
			uint64_t other = (id + 7) % count;

			cr_expect(read_into(r, id, bytes - 1) == -EINVAL);
			cr_expect(read_into(r, id, bytes / 2) == -EINVAL);
			cr_expect(read_into(r, id, bound - 1) == 0);
			cr_expect(read_into(r, id, bytes) == 0);
			cr_expect(read_into(r, id, bound) == 0, "kept");
			/* What is kept for parts stays. */
			cr_expect(read_into(r, other, bound + 4 + 1296 * 4) ==
				  0);
			cr_expect(!decoded || r->record_id == id);
			cr_expect(zr_read_part(r, id, bytes - 4, &part, 4,
					       NULL) == 0);
			cr_expect(part == make_item(id, bytes / 4 - 1));
		}
		cr_expect(decoded == !!r->record.p);
		zr_reader_free(r);
		zr_close(c);
		scratch_remove(&s);
		scratch_make(&s);
	}
}

/* Replace what is stored of record `id`: `len` bytes that are to decode to
 * `logic`; or its bytes from `at` on, if `logic` is 0. */
static void store_other(const char *path, uint64_t id, const void *stored,
			size_t len, uint32_t logic, size_t at)
{
	char name[700];
	unsigned char entry[16];
	off_t where = 4096 + 16 * (off_t)id;
	int meta, data;

	snprintf(name, sizeof(name), "%s/meta.zr", path);
	cr_assert((meta = open(name, O_RDWR)) >= 0);
	snprintf(name, sizeof(name), "%s/data.zr", path);
	cr_assert((data = open(name, O_RDWR)) >= 0);
	cr_assert(pread(meta, entry, 16, where) == 16);
	cr_assert(len + at <= zr_le32(entry + 8), "has no place");
	cr_assert(pwrite(data, stored, len, (off_t)(zr_le64(entry) + at)) ==
		  (ssize_t)len);
	if (logic) {
		zr_put_le32(entry + 8, (uint32_t)len);
		zr_put_le32(entry + 12, logic);
		cr_assert(pwrite(meta, entry, 16, where) == 16);
	}
	close(meta);
	close(data);
}

/* Record `id` is bad, whatever the room; the next one is not. */
static void expect_bad(const char *path, uint32_t flags, uint64_t id,
		       const char *what)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	unsigned char buf[8192];
	struct zr_container *c;
	struct zr_reader *r;
	struct zr_error err;
	size_t logic;

	for (size_t i = 0; i < 2; i++) {
		opt.flags = flags;
		opt.placement = placements[i];
		cr_assert(zr_open(&c, path, &opt, NULL) == 0);
		cr_assert(zr_reader_new(&r, c, NULL) == 0);
		logic = (size_t)zr_record_bound(c, id) + 1;
		for (size_t room = logic - 1; room <= logic + 1; room++) {
			err.record = 0;
			cr_expect(zr_read(r, id, buf, room, NULL, NULL, &err) ==
					  -EBADMSG,
				  "%s, room %zu of %zu", what, room, logic);
			cr_expect(err.record == id);
			cr_expect(read_into(r, id + 1, 8192) == 0);
		}
		zr_reader_free(r);
		zr_close(c);
	}
}

Test(reader, a_ragged_frame_that_does_not_decode_is_bad_in_any_room)
{
	for (size_t i = 0; i < 9; i++) {
		const char *path = scratch_path(&s, "frames");
		uint64_t id = 3 + i % 5;

		/* A raw record that is not compared is any record. */
		if (codecs[i % 3] == ZR_RAW && i / 3 != 1)
			continue;
		cr_assert(make_container(path, codecs[i % 3], 20, 0, NULL,
					 NULL) == 0);
		store_other(path, id, "\xff\xff", 2, 0, 1);
		expect_bad(path, check_flags[i / 3], id, "frame");
		scratch_remove(&s);
		scratch_make(&s);
	}
}

Test(reader, a_ragged_shape_that_does_not_fit_is_bad_in_any_room)
{
	static const struct {
		const char *what;
		uint32_t rank, logic;
		uint64_t dims[3];
	} bad[] = {
		{ "no elements", 1, 9, { 0 } },
		{ "nothing", 1, 13, { 0 } },
		{ "nothing of two", 2, 21, { 3, 0 } },
		{ "a scalar of two", 0, 9, { 0 } },
		{ "an element too many", 1, 17, { 1 } },
		{ "an element too few", 1, 13, { 2 } },
		{ "overflow", 2, 21, { (uint64_t)1 << 33, (uint64_t)1 << 33 } },
		{ "half an element", 1, 11, { 1 } },
		{ "cut in its shape", 3, 20, { 1, 1, 1 } },
		{ "rank 65", 65, 30, { 1, 1, 1 } },
		{ "rank 255", 255, 2, { 0 } },
	};

	for (size_t i = 0; i < 2 * sizeof(bad) / sizeof(bad[0]); i++) {
		const char *path = scratch_path(&s, "shapes");
		enum zr_codec codec = codecs[i % 2];
		unsigned char record[64] = { 0 }, frame[128];
		uint32_t logic = bad[i / 2].logic;
		size_t len = logic;

		cr_assert(make_container(path, codec, 20, 0, NULL, NULL) == 0);
		record[0] = (unsigned char)bad[i / 2].rank;
		for (size_t d = 0; d < 3; d++)
			zr_put_le64(record + 1 + 8 * d, bad[i / 2].dims[d]);
		if (codec == ZR_ZSTD)
			len = ZSTD_compress(frame, sizeof(frame), record, logic,
					    1);
		store_other(path, 13, codec == ZR_ZSTD ? frame : record, len,
			    logic, 0);
		expect_bad(path, ZR_OPEN_NO_CHECKSUMS, 13, bad[i / 2].what);
		scratch_remove(&s);
		scratch_make(&s);
	}
}

Test(reader, refuses_ids_past_the_end)
{
	struct opened o = open_new(ZR_RAW, 10, 4, 0);
	uint64_t ids[3] = { 1, 10, UINT64_MAX };
	unsigned char buf[64];
	struct zr_error err;

	cr_expect(zr_read(o.r, 10, buf, 64, NULL, NULL, &err) == -ERANGE);
	cr_expect(zr_gather_dense(o.r, ids, 3, buf, 64, &err) == -ERANGE);
	cr_expect(err.record == 10, "the first of two");
	cr_expect(zr_record_bound(o.c, 10) == 0);
	cr_expect(zr_gather_dense(o.r, ids, 3, buf, 47, &err) == -EINVAL);
	cr_expect(zr_gather_dense(o.r, ids, SIZE_MAX, buf, 64, &err) ==
		  -EINVAL);
	cr_expect(zr_gather_dense(o.r, ids, 0, NULL, 0, &err) == 0);
	close_all(&o);
}

Test(reader, a_file_that_is_cut_after_opening_is_an_error_not_a_crash)
{
	for (size_t i = 0; i < 6; i++) {
		struct opened o =
			open_new(codecs[i % 3], 2000, i < 3 ? 64 : 0, 0);
		uint64_t last = 1999, first = 0;
		unsigned char buf[8192];
		struct zr_ragged b = { 0 };
		struct zr_error err;
		char path[700], name[64];

		snprintf(name, sizeof(name), "c%d.2000.%d.0/data.zr",
			 (int)codecs[i % 3], i < 3 ? 64 : 0);
		snprintf(path, sizeof(path), "%s/%s", s.dir, name);
		cr_assert(truncate(path, 8192) == 0);
		cr_expect(zr_read(o.r, last, buf, sizeof(buf), NULL, NULL,
				  &err) == -EIO);
		cr_expect(err.record == last && strstr(err.path, "data.zr"));
		if (i < 3)
			cr_expect(zr_gather_dense(o.r, &last, 1, buf,
						  sizeof(buf), &err) == -EIO);
		else
			cr_expect(zr_gather_ragged(o.r, &last, 1, &b, &err) ==
				  -EIO);
		cr_expect(zr_read(o.r, first, buf, sizeof(buf), NULL, NULL,
				  &err) == 0,
			  "what is there is served");
		zr_ragged_free(&b);
		close_all(&o);
	}
}

/* Records shorter than their shape prefix, all of one rank: decoding in place
 * must not reach the records of another task. */
Test(reader, gathers_ragged_records_shorter_than_their_shapes)
{
	enum { count = 4000 };
	struct zr_create_options opt = ZR_CREATE_OPTIONS_INIT;
	struct zr_dtype dtype = make_dtype("|u1");
	static unsigned char values[count * 9];
	static uint64_t offsets[count + 1], dims[count * 4],
		dim_offsets[count + 1], id[count];

	opt.codec = ZR_ZSTD;
	for (uint32_t rank = 0; rank <= 4; rank++) {
		for (int sidecar = 0; sidecar < 2; sidecar++) {
			struct zr_ragged b = { .count = count,
					       .values = values,
					       .offsets = offsets,
					       .dims = dims,
					       .dim_offsets = dim_offsets };
			struct zr_ragged got = { 0 };
			struct zr_container *c;
			struct zr_executor *ex;
			struct zr_reader *r;
			struct zr_writer *w;
			char name[32];

			snprintf(name, sizeof(name), "s%u.%d", rank, sidecar);
			for (size_t i = 0; i < count; i++) {
				uint64_t len = rank ? 1 + i % 9 : 1;

				for (uint32_t d = 0; d < rank; d++)
					dims[i * rank + d] = d ? 1 : len;
				offsets[i + 1] = offsets[i] + len;
				dim_offsets[i + 1] = (i + 1) * rank;
				memset(values + offsets[i], (int)(i * 7), len);
				id[i] = (i * 1237) % count;
			}
			opt.no_checksums = !sidecar;
			cr_assert(zr_create(&w, scratch_path(&s, name),
					    ZR_RAGGED, &dtype, NULL, &opt,
					    NULL) == 0);
			cr_assert(zr_append_ragged(w, &b, NULL) == 0);
			cr_assert(zr_publish(w, NULL) == 0);
			cr_assert(zr_open(&c, scratch_path(&s, name), NULL,
					  NULL) == 0);
			cr_assert(zr_executor_new(&ex, 3) == 0);
			cr_assert(zr_reader_new(&r, c, ex) == 0);
			cr_assert(zr_gather_ragged(r, id, count, &got, NULL) ==
				  0);
			for (size_t i = 0; i < count; i++) {
				uint64_t from = offsets[id[i]];
				uint64_t len = offsets[id[i] + 1] - from;

				cr_assert(got.offsets[i + 1] - got.offsets[i] ==
					  len);
				cr_assert(!memcmp(got.values + got.offsets[i],
						  values + from, len),
					  "rank %u place %zu", rank, i);
			}
			zr_ragged_free(&got);
			zr_reader_free(r);
			zr_executor_free(ex);
			zr_close(c);
		}
	}
}

/* The rest of the last page reads as zeros, and no fault tells. */
Test(reader, a_file_that_is_cut_inside_a_page_is_an_error)
{
	enum { room = 8192 };
	unsigned char *before = malloc(2000 * (size_t)room);

	for (size_t i = 0; i < 6; i++) {
		struct opened o =
			open_new(codecs[i % 3], 2000, i < 3 ? 64 : 0, 0);
		uint64_t good = 0, bad = 0;
		unsigned char buf[room];
		struct zr_ragged b = { 0 };
		struct zr_error err;
		char path[700];
		int rc;

		snprintf(path, sizeof(path), "%s/c%d.2000.%d.0/data.zr", s.dir,
			 (int)codecs[i % 3], i < 3 ? 64 : 0);
		for (uint64_t id = 0; id < 2000; id++)
			cr_assert(zr_read(o.r, id, before + id * room, room,
					  NULL, NULL, &err) == 0);
		cr_assert(truncate(path, 8192 + 1234) == 0);
		for (uint64_t id = 0; id < 2000; id++) {
			uint64_t bytes, one[2] = { 0, id };

			rc = zr_read(o.r, id, buf, sizeof(buf), &bytes, NULL,
				     &err);
			cr_assert(rc == 0 || rc == -EIO, "%s", err.message);
			cr_assert(rc || !memcmp(buf, before + id * room,
						(size_t)bytes));
			good += rc == 0 && !bad;
			bad += rc != 0;
			cr_assert((bad != 0) == (rc != 0), "all after it");
			if (i < 3)
				rc = zr_gather_dense(o.r, one, 2, buf,
						     sizeof(buf), &err);
			else
				rc = zr_gather_ragged(o.r, one, 2, &b, &err);
			cr_assert((rc == -EIO) == (bad != 0));
			cr_assert(rc == 0 || err.record == id);
		}
		cr_expect(good && bad);
		zr_ragged_free(&b);
		close_all(&o);
	}
	free(before);
}

Test(reader, a_cut_file_is_an_error_on_every_thread)
{
	enum { count = 20000 };
	static uint64_t id[count];
	unsigned char *dst = malloc(count * 256);

	for (size_t i = 0; i < count; i++)
		id[i] = count - 1 - i;
	for (size_t i = 0; i < 2; i++) {
		struct opened o = open_new(codecs[i], count, 64, 4);
		struct zr_error err;
		char path[700];

		snprintf(path, sizeof(path), "%s/c%d.20000.64.4/data.zr", s.dir,
			 (int)codecs[i]);
		cr_assert(truncate(path, 0) == 0);
		for (int again = 0; again < 3; again++) {
			cr_expect(zr_gather_dense(o.r, id, count, dst,
						  count * 256, &err) == -EIO);
			cr_expect(err.record == count - 1, "the first");
		}
		cr_expect(zr_check(o.r, 0, &err) == -EIO);
		close_all(&o);
	}
	free(dst);
}

Test(reader, a_large_ragged_record_tells_its_shape_from_its_beginning)
{
	struct zr_create_options opt = ZR_CREATE_OPTIONS_INIT;
	struct zr_dtype dtype = make_dtype("|u1");
	uint64_t n = (uint64_t)40 << 20, offsets[2] = { 0, n };
	uint64_t dims[2] = { 40, (uint64_t)1 << 20 }, dim_offsets[2] = { 0, 2 };
	struct zr_ragged b = { .count = 1,
			       .offsets = offsets,
			       .dims = dims,
			       .dim_offsets = dim_offsets };
	struct zr_writer *w;
	struct zr_container *c;
	struct zr_reader *r;
	struct zr_shape shape;
	uint64_t bytes;

	b.values = malloc(n);
	for (uint64_t i = 0; i < n; i++)
		b.values[i] = (unsigned char)(i * i >> 7);
	for (int level = 1; level <= 19; level += 18) {
		const char *path = scratch_path(&s, level == 1 ? "l" : "m");

		opt.codec = ZR_ZSTD;
		opt.level = level == 1 ? 1 : 5;
		cr_assert(zr_create(&w, path, ZR_RAGGED, &dtype, NULL, &opt,
				    NULL) == 0);
		cr_assert(zr_append_ragged(w, &b, NULL) == 0);
		cr_assert(zr_publish(w, NULL) == 0);
		cr_assert(zr_open(&c, path, NULL, NULL) == 0);
		cr_assert(zr_reader_new(&r, c, NULL) == 0);
		cr_assert(zr_record_shape(r, 0, &shape, &bytes, NULL) == 0);
		cr_expect(shape.rank == 2 && shape.dims[0] == 40);
		cr_expect(bytes == n);
		cr_assert(zr_check(r, 0, NULL) == 0, "the context still works");
		zr_reader_free(r);
		zr_close(c);
	}
	free(b.values);
}
