/* SPDX-License-Identifier: BSD-2-Clause
 * Containers of other versions of loaderx are named, not taken for damage; and
 * damage is not taken for another version. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>

#include "base/le.h"
#include "expect.h"
#include "make.h"
#include "scratch.h"

enum { page = 4096 };

static struct scratch s;

static void setup(void)
{
	scratch_make(&s);
}

static void teardown(void)
{
	scratch_remove(&s);
}

TestSuite(generation, .init = setup, .fini = teardown, .timeout = 60);

static int opens(const char *path, struct zr_error *err)
{
	struct zr_container *c;
	int rc = zr_open(&c, path, NULL, err);

	zr_close(c);
	return rc;
}

Test(generation, each_is_named)
{
	static const struct {
		const char *name, *versions;
	} all[] = {
		{ "2.2.1_dense", "loaderx 2.2.1" },
		{ "2.2.1_ragged", "loaderx 2.2.1" },
		{ "2.3.3_ragged", "loaderx 2.3.3 to 2.8.6" },
		{ "2.8.6_dict", "loaderx 2.3.3 to 2.8.6" },
		{ "2.8.12_dense", "loaderx 2.8.12" },
		{ "2.8.18_ragged", "loaderx 2.8.18 or later" },
		{ "2.8.19_ragged", "loaderx 2.8.18 or later" },
		{ "2.8.19_dense", "loaderx 2.8.18 or later" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct zr_error err = { 0 };
		char path[512];

		snprintf(path, sizeof(path), TEST_DATA "/versions/%s",
			 all[i].name);
		cr_expect(opens(path, &err) == -ENOTSUP && err.code == -ENOTSUP,
			  "%s: %d", all[i].name, err.code);
		cr_expect(strstr(err.message, all[i].versions) &&
				  strstr(err.message, "no damage") &&
				  strstr(err.message, path) &&
				  !strchr(err.message, '\n'),
			  "%s", err.message);
	}
}

static void put(const char *dir, const char *name, const void *p, size_t len)
{
	char path[1024];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wb");
	cr_assert(f && fwrite(p, 1, len, f) == len && !fclose(f));
}

static void load_page(const char *name, unsigned char *to)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), TEST_DATA "/versions/%s/meta.zr", name);
	f = fopen(path, "rb");
	cr_assert(f && fread(to, 1, page, f) == page);
	fclose(f);
}

static int opens_page(const unsigned char *p, bool sharded)
{
	const char *dir = scratch_path(&s, "c");

	scratch_remove(&s);
	cr_assert(!mkdir(s.dir, 0700) && !mkdir(dir, 0700));
	put(dir, "meta.zr", p, page);
	put(dir, sharded ? "data_0.zr" : "data.zr", "", 0);
	return opens(dir, NULL);
}

/* One byte of what is fixed in another form, and it is damage again. */
Test(generation, damage_is_damage)
{
	static const struct {
		const char *name;
		int at, value;
	} all[] = {
		{ "2.2.1_dense", 16, 0 },	 { "2.2.1_dense", 20, 1 },
		{ "2.2.1_dense", 31, 3 },	 { "2.2.1_dense", 32, 0xc0 },
		{ "2.3.3_ragged", 10, 0 },	 { "2.3.3_ragged", 11, 3 },
		{ "2.3.3_ragged", 12, 1 },	 { "2.3.3_ragged", 8, 1 },
		{ "2.3.3_ragged", 9, 0xff },	 { "2.3.3_ragged", 2055, 1 },
		{ "2.3.3_ragged", 2056, 0xc0 },	 { "2.8.18_ragged", 2056, 0 },
		{ "2.8.18_ragged", 15, 1 },	 { "2.8.18_ragged", 8, 0 },
		{ "2.8.19_ragged", 2058, 'D' },
	};
	unsigned char p[page];

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		bool sharded = strncmp(all[i].name, "2.2", 3) != 0;

		load_page(all[i].name, p);
		cr_assert(opens_page(p, sharded) == -ENOTSUP);
		p[all[i].at] = (unsigned char)all[i].value;
		cr_expect(opens_page(p, sharded) == -EUCLEAN, "%s: %d at %d",
			  all[i].name, all[i].value, all[i].at);
	}
	load_page("2.3.3_ragged", p);
	cr_expect(opens_page(p, false) == -EUCLEAN, "without its data_0.zr");
}

/* No byte of a header, whatever it is, makes more than an error. */
Test(generation, any_byte_is_an_error)
{
	unsigned char p[page];

	for (int at = 0; at < 2100; at += at > 40 && at < 2050 ? 97 : 1) {
		load_page("2.8.12_dense", p);
		for (int bit = 0; bit < 8; bit++) {
			int rc;

			p[at] ^= (unsigned char)(1 << bit);
			rc = opens_page(p, true);
			cr_expect(rc == -ENOTSUP || rc == -EUCLEAN,
				  "byte %d: %d", at, rc);
		}
	}
}

/* What a container of ours has beside it is not looked at. */
Test(generation, a_stray_data_0_is_no_other_version)
{
	const char *dir = scratch_path(&s, "c");

	cr_assert(!make_container(dir, ZR_RAW, 3, 4, NULL, NULL));
	put(dir, "data_0.zr", "", 0);
	cr_expect(opens(dir, NULL) == 0);
}

/* A Ragged container of ours with the records that loaderx 2.0.0 would put
 * there: the rank in 8 bytes. */
Test(generation, records_of_the_first_are_named)
{
	const char *dir = scratch_path(&s, "c");
	unsigned char data[8 + 8 + 12] = { 1, [8] = 3 };
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	struct zr_container *c;
	struct zr_reader *r;
	struct zr_error err;
	char meta[1024];
	unsigned char e[24];
	int fd;

	cr_assert(!make_container(dir, ZR_RAW, 1, 0, NULL, NULL));
	put(dir, "data.zr", data, sizeof(data));
	snprintf(meta, sizeof(meta), "%s/meta.zr", dir);
	fd = open(meta, O_RDWR);
	zr_put_le64(e, sizeof(data));
	cr_assert(pwrite(fd, e, 8, 8) == 8);
	zr_put_le64(e, 0);
	zr_put_le32(e + 8, sizeof(data));
	zr_put_le32(e + 12, sizeof(data));
	cr_assert(pwrite(fd, e, 16, page) == 16);
	close(fd);

	opt.flags = ZR_OPEN_NO_CHECKSUMS;
	cr_assert(!zr_open(&c, dir, &opt, NULL) && !zr_reader_new(&r, c, NULL));
	cr_expect(zr_check(r, 0, &err) == -EBADMSG);
	cr_expect(strstr(err.message, "loaderx 2.0.0;"), "%s", err.message);
	cr_expect(zr_record_shape(r, 0, NULL, NULL, &err) == -EBADMSG);
	cr_expect(strstr(err.message, "loaderx 2.0.0;"), "%s", err.message);
	zr_reader_free(r);
	zr_close(c);
}
