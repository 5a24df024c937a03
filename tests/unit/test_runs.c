/* SPDX-License-Identifier: BSD-2-Clause
 * Gathers of records that follow each other in a file that is read: several
 * come by one system call, and what is wrong is still told of the right one. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "make.h"
#include "scratch.h"

enum { records = 200, words = 16, width = words * 4 };

static struct scratch s;
static const char *path;
static struct zr_container *c;
static struct zr_reader *r;
static unsigned char dst[records * width];

static void setup(void)
{
	struct zr_error err;

	scratch_make(&s);
	path = scratch_path(&s, "c");
	cr_assert(make_container(path, ZR_RAW, records, words, NULL, &err) == 0,
		  "%s", err.message);
}

static void teardown(void)
{
	zr_reader_free(r);
	zr_close(c);
	scratch_remove(&s);
}

TestSuite(runs, .init = setup, .fini = teardown);

static void open_it(uint32_t flags)
{
	struct zr_open_options how = ZR_OPEN_OPTIONS_INIT;
	struct zr_error err;

	how.placement = ZR_PLACE_READ;
	how.flags = flags;
	cr_assert(zr_open(&c, path, &how, &err) == 0, "%s", err.message);
	cr_assert(zr_reader_new(&r, c, NULL) == 0);
}

static int data_file(void)
{
	char name[4200];
	int fd;

	snprintf(name, sizeof(name), "%s/data.zr", path);
	fd = open(name, O_RDWR | O_CLOEXEC);
	cr_assert(fd >= 0);
	return fd;
}

static bool is_record(size_t at, uint64_t id)
{
	for (uint64_t j = 0; j < words; j++) {
		int32_t v;

		memcpy(&v, dst + at * width + 4 * j, 4);
		if (v != make_item(id, j))
			return false;
	}
	return true;
}

static void gather(const uint64_t *ids, size_t count)
{
	struct zr_error err;

	memset(dst, 0xee, sizeof(dst));
	cr_assert(zr_gather_dense(r, ids, count, dst, count * width, &err) == 0,
		  "%s", err.message);
	for (size_t i = 0; i < count; i++)
		cr_assert(is_record(i, ids[i]), "%zu", i);
}

Test(runs, any_pattern_of_ids)
{
	static const uint64_t mixed[] = { 5,  6,  7,   7,   8,   9,   3, 2, 1,
					  0,  1,  198, 199, 0,   199, 4, 6, 8,
					  10, 11, 12,  13,  100, 101, 50 };
	uint64_t ids[records];

	open_it(ZR_OPEN_CHECK);
	for (size_t i = 0; i < records; i++)
		ids[i] = i;
	for (size_t first = 0; first < records; first += 37) {
		for (size_t n = 1; first + n <= records; n += 13)
			gather(ids + first, n);
	}
	for (size_t i = 0; i < records; i++)
		ids[i] = records - 1 - i;
	gather(ids, records);
	gather(mixed, sizeof(mixed) / sizeof(*mixed));
}

Test(runs, an_id_that_is_none_in_the_middle)
{
	uint64_t ids[] = { 197, 198, 199, 200, 201 };
	struct zr_error err;

	open_it(0);
	cr_expect(zr_gather_dense(r, ids, 5, dst, sizeof(dst), &err) ==
		  -ERANGE);
	cr_expect(err.record == 200, "%llu", (unsigned long long)err.record);
	cr_expect(is_record(0, 197) && is_record(2, 199));
}

Test(runs, a_flipped_byte_is_of_its_record)
{
	unsigned char byte;
	struct zr_error err;
	uint64_t ids[100];
	int fd = data_file();

	cr_assert(pread(fd, &byte, 1, 71 * width + 9) == 1);
	byte ^= 1;
	cr_assert(pwrite(fd, &byte, 1, 71 * width + 9) == 1);
	close(fd);
	open_it(ZR_OPEN_CHECK);
	for (size_t i = 0; i < 100; i++)
		ids[i] = 20 + i;
	cr_expect(zr_gather_dense(r, ids, 100, dst, sizeof(dst), &err) ==
		  -EBADMSG);
	cr_expect(err.record == 71, "%llu", (unsigned long long)err.record);
	for (size_t i = 0; i < 100; i++)
		cr_expect(i == 51 || is_record(i, 20 + i), "%zu", i);
}

Test(runs, a_file_that_was_cut)
{
	struct zr_error err;
	uint64_t ids[records];
	int fd = data_file();

	open_it(0);
	cr_assert(ftruncate(fd, 90 * width + 5) == 0);
	close(fd);
	for (size_t i = 0; i < records; i++)
		ids[i] = i;
	cr_expect(zr_gather_dense(r, ids, records, dst, sizeof(dst), &err) ==
		  -EIO);
	cr_expect(err.record == 90, "%llu", (unsigned long long)err.record);
	for (size_t i = 0; i < 90; i++)
		cr_expect(is_record(i, i), "%zu", i);
	gather(ids, 90);
}
