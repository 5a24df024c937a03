/* SPDX-License-Identifier: BSD-2-Clause
 * The integrity sidecar: what it finds, what it refuses, what it tells. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>

#include "make.h"
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

TestSuite(sums, .init = setup, .fini = teardown);

enum { count = 40 };

static int open_with(struct zr_container **c, const char *path, uint32_t flags,
		     enum zr_placement placement)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;

	opt.flags = flags;
	opt.placement = placement;
	return zr_open(c, path, &opt, NULL);
}

/* Is anything found wrong, at open or in a record? Never crashes. */
static bool is_found(const char *path, uint64_t *bad)
{
	struct zr_container *c;
	struct zr_reader *r;
	bool found = false;

	*bad = ZR_NONE;
	if (open_with(&c, path, 0, ZR_PLACE_AUTO))
		return true;
	cr_assert(zr_reader_new(&r, c, NULL) == 0);
	for (uint64_t id = 0; id < zr_info(c)->records; id++)
		if (zr_check(r, id, NULL)) {
			found = true;
			*bad = id;
		}
	zr_reader_free(r);
	zr_close(c);
	return found;
}

static void flip(const char *path, const char *file, off_t at)
{
	char name[1024];
	unsigned char byte;
	int fd;

	snprintf(name, sizeof(name), "%s/%s", path, file);
	fd = open(name, O_RDWR);
	cr_assert(pread(fd, &byte, 1, at) == 1);
	byte ^= 1;
	cr_assert(pwrite(fd, &byte, 1, at) == 1);
	close(fd);
}

static off_t size_of(const char *path, const char *file)
{
	char name[1024];
	struct stat st;

	snprintf(name, sizeof(name), "%s/%s", path, file);
	return stat(name, &st) ? 0 : st.st_size;
}

Test(sums, finds_any_flipped_bit_in_any_file)
{
	static const enum zr_codec codecs[] = { ZR_RAW, ZR_ZSTD, ZR_ZSTD_DICT };
	static const char *const files[] = { "meta.zr", "data.zr", "check.zr",
					     "dict.zr" };

	for (size_t i = 0; i < 6; i++) {
		const char *path = scratch_path(&s, "c");
		uint64_t bad;

		cr_assert(make_container(path, codecs[i % 3], count,
					 i < 3 ? 4 : 0, NULL, NULL) == 0);
		cr_assert(!is_found(path, &bad));
		for (size_t f = 0; f < 4; f++) {
			off_t size = size_of(path, files[f]);
			off_t step = size > 3000 ? 37 : 1;

			for (off_t at = 0; at < size; at += step) {
				flip(path, files[f], at);
				cr_expect(is_found(path, &bad), "%zu %s %ld", i,
					  files[f], (long)at);
				flip(path, files[f], at);
			}
		}
		cr_assert(!is_found(path, &bad));
		scratch_remove(&s);
		mkdir(s.dir, 0755);
	}
}

Test(sums, damage_of_a_record_or_its_entry_is_its_own)
{
	const char *path = scratch_path(&s, "c");
	uint64_t bad;

	cr_assert(make_container(path, ZR_RAW, count, 4, NULL, NULL) == 0);
	flip(path, "data.zr", 7 * 16 + 3);
	cr_expect(is_found(path, &bad) && bad == 7);
	flip(path, "data.zr", 7 * 16 + 3);
	/* Its entry points at the record before: a good span, the wrong one. */
	flip(path, "meta.zr", 4096 + 9 * 16);
	cr_expect(is_found(path, &bad) && bad == 9);
}

Test(sums, reads_compare_only_when_asked)
{
	const char *path = scratch_path(&s, "c");
	static const enum zr_placement places[] = { ZR_PLACE_MAP,
						    ZR_PLACE_RESIDENT,
						    ZR_PLACE_READ };
	unsigned char buf[count * 16], part[4];
	uint64_t ids[2] = { 6, 7 }, good = 6;
	struct zr_container *c;
	struct zr_reader *r;

	cr_assert(make_container(path, ZR_RAW, count, 4, NULL, NULL) == 0);
	flip(path, "data.zr", 7 * 16 + 3);
	for (size_t i = 0; i < 3; i++) {
		cr_assert(open_with(&c, path, ZR_OPEN_CHECK, places[i]) == 0);
		cr_expect(zr_info(c)->checksums);
		cr_assert(zr_reader_new(&r, c, NULL) == 0);
		cr_expect(zr_read(r, 7, buf, 16, NULL, NULL, NULL) == -EBADMSG);
		cr_expect(zr_read_part(r, 7, 0, part, 4, NULL) == -EBADMSG);
		cr_expect(zr_gather_dense(r, ids, 2, buf, 32, NULL) ==
			  -EBADMSG);
		cr_expect(zr_gather_dense(r, &good, 1, buf, 16, NULL) == 0);
		zr_reader_free(r);
		zr_close(c);
		cr_assert(open_with(&c, path, 0, places[i]) == 0);
		cr_assert(zr_reader_new(&r, c, NULL) == 0);
		cr_expect(zr_read(r, 7, buf, 16, NULL, NULL, NULL) == 0);
		cr_expect(zr_check(r, 7, NULL) == -EBADMSG, "always");
		zr_reader_free(r);
		zr_close(c);
	}
}

Test(sums, one_of_another_container_is_refused_unless_ignored)
{
	const char *a = scratch_path(&s, "a"), *b = scratch_path(&s, "b");
	struct zr_container *c;
	char from[1024], to[1024];

	cr_assert(make_container(a, ZR_RAW, count, 4, NULL, NULL) == 0);
	cr_assert(make_container(b, ZR_RAW, count, 5, NULL, NULL) == 0);
	snprintf(from, sizeof(from), "%s/check.zr", b);
	snprintf(to, sizeof(to), "%s/check.zr", a);
	cr_assert(rename(from, to) == 0);
	cr_expect(open_with(&c, a, 0, ZR_PLACE_AUTO) == -EUCLEAN);
	cr_assert(open_with(&c, a, ZR_OPEN_NO_CHECKSUMS, ZR_PLACE_AUTO) == 0);
	cr_expect(!zr_info(c)->checksums);
	zr_close(c);
	cr_assert(open_with(&c, b, ZR_OPEN_CHECK, ZR_PLACE_AUTO) == 0);
	cr_expect(!zr_info(c)->checksums, "none is there");
	zr_close(c);
}

Test(sums, shapes_are_told_without_decoding)
{
	const char *path = scratch_path(&s, "c");
	struct zr_container *c;
	struct zr_reader *r;
	char data[1024];

	cr_assert(make_container(path, ZR_ZSTD, count, 0, NULL, NULL) == 0);
	cr_assert(open_with(&c, path, 0, ZR_PLACE_READ) == 0);
	cr_assert(zr_reader_new(&r, c, NULL) == 0);
	snprintf(data, sizeof(data), "%s/data.zr", path);
	cr_assert(truncate(data, 0) == 0);
	for (uint64_t id = 0; id < count; id++) {
		uint64_t dims[4], bytes;
		uint32_t rank = make_shape(id, dims);
		struct zr_shape shape;

		cr_assert(zr_record_shape(r, id, &shape, &bytes, NULL) == 0);
		cr_expect(shape.rank == rank && bytes == 4 * make_items(id));
		cr_expect(!memcmp(shape.dims, dims, 8 * rank));
	}
	cr_expect(zr_check(r, 0, NULL) == -EIO);
	zr_reader_free(r);
	zr_close(c);
}

Test(sums, are_right_after_an_append_that_was_rolled_back)
{
	struct zr_dtype dtype = make_dtype("<i4");
	struct zr_ragged b = make_batch(0, 10), bad = make_batch(0, 10);
	const char *path = scratch_path(&s, "c");
	struct zr_writer *w;
	uint64_t id;

	bad.offsets[10]++;
	cr_assert(zr_create(&w, path, ZR_RAGGED, &dtype, NULL, NULL, NULL) ==
		  0);
	cr_assert(zr_append_ragged(w, &b, NULL) == 0);
	cr_assert(zr_append_ragged(w, &bad, NULL) == -EINVAL);
	cr_assert(zr_append_ragged(w, &b, NULL) == 0);
	cr_assert(zr_publish(w, NULL) == 0);
	cr_expect(!is_found(path, &id));
	make_batch_free(&b);
	make_batch_free(&bad);
}
