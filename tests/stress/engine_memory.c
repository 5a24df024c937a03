/* SPDX-License-Identifier: BSD-2-Clause
 * A way once through the engine, for valgrind to follow: every container in
 * tests/data, good or bad, and one of each kind that is built. That what is
 * read is right is the business of other tests; here it is that reading it
 * two ways gives the same. Returns 0, or 1 after saying what failed. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "../unit/scratch.h"
#include "engine_data.h"

enum { MOST = 40, RECORDS = 600 };

/* The bytes that one record is, as a gather of it gives them. */
static int gather_one(struct zr_reader *r, enum zr_kind kind, uint64_t id,
		      unsigned char *dst, size_t size, uint64_t *bytes,
		      struct zr_error *err)
{
	struct zr_ragged b = { 0 };
	int rc;

	if (kind == ZR_DENSE)
		return zr_gather_dense(r, &id, 1, dst, size, err);
	rc = zr_gather_ragged(r, &id, 1, &b, err);
	if (!rc) {
		*bytes = b.offsets[1];
		memcpy(dst, b.values, (size_t)b.offsets[1]);
	}
	zr_ragged_free(&b);
	return rc;
}

/* Returns whether the record is whole. */
static bool read_two_ways(struct zr_reader *r, const struct zr_info *info,
			  uint64_t id, size_t size)
{
	unsigned char *a = room(size), *b = room(size);
	uint64_t bytes = info->record_bytes, again = bytes;
	struct zr_error err;
	struct zr_shape shape;
	int rc = zr_read(r, id, a, size, &bytes, &shape, &err), rc2;

	rc2 = gather_one(r, info->kind, id, b, size, &again, &err);
	CHECK(rc == rc2, "record %" PRIu64 ": %d, gathered %d", id, rc, rc2);
	if (!rc && !rc2)
		CHECK(bytes == again && !memcmp(a, b, (size_t)bytes),
		      "record %" PRIu64 " is another when gathered", id);
	if (!rc) {
		uint64_t half = bytes / 2;

		rc2 = zr_read_part(r, id, half, b, (size_t)(bytes - half),
				   &err);
		CHECK(!rc2 && !memcmp(a + half, b, (size_t)(bytes - half)),
		      "a part of record %" PRIu64 ": %d", id, rc2);
	}
	rc2 = zr_check(r, id, &err);
	CHECK(rc == rc2, "record %" PRIu64 ": %d, checked %d", id, rc, rc2);
	free(a);
	free(b);
	return !rc;
}

/* All of a large gather at once, on threads; it fails if a record does. */
static void gather_all(struct zr_reader *r, const struct zr_info *info,
		       bool whole)
{
	size_t count = info->records < MOST ? (size_t)info->records : MOST;
	struct zr_ragged b = { 0 };
	uint64_t ids[MOST];
	struct zr_error err;
	int rc;

	for (size_t i = 0; i < count; i++)
		ids[i] = info->records - 1 - i;
	if (info->kind == ZR_DENSE) {
		size_t size = count * (size_t)info->record_bytes;
		unsigned char *dst = room(size);

		rc = zr_gather_dense(r, ids, count, dst, size, &err);
		free(dst);
	} else {
		rc = zr_gather_ragged(r, ids, count, &b, &err);
	}
	CHECK(!rc == whole, "a gather of all: %d", rc);
	zr_ragged_free(&b);
}

/* Returns 0 if it opens and each record that is looked at is whole. */
static int look_at(const char *path, uint32_t flags, enum zr_placement p,
		   struct zr_executor *ex)
{
	struct zr_open_options opt = { sizeof(opt), flags, p };
	struct zr_container *c;
	struct zr_reader *r;
	char json[4096];
	struct zr_error err;
	bool whole = true;
	size_t len;
	int rc = zr_open(&c, path, &opt, &err);

	if (rc)
		return rc;
	CHECK(zr_info_json(c, json, sizeof(json), &len) == 0, "%s", path);
	MUST(zr_reader_new(&r, c, ex));
	for (uint64_t i = 0; i < zr_info(c)->records && i < MOST; i++) {
		uint64_t id = zr_info(c)->records - 1 - i;
		uint64_t size = zr_record_bound(c, id);

		if (size < zr_info(c)->record_bytes)
			size = zr_info(c)->record_bytes;
		whole &= read_two_ways(r, zr_info(c), id, (size_t)size);
	}
	gather_all(r, zr_info(c), whole);
	zr_reader_free(r);
	zr_close(c);
	return whole ? 0 : -EBADMSG;
}

/* Returns how many containers there are in tests/data/`group`. */
static unsigned look_at_all(const char *group, bool good,
			    struct zr_executor *ex)
{
	char folder[512], path[1024];
	unsigned found = 0, whole = 0;
	struct dirent *e;
	struct stat st;
	DIR *d;

	snprintf(folder, sizeof(folder), "%s/%s", TEST_DATA, group);
	d = opendir(folder);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		if (e->d_name[0] == '.' || stat(path, &st) ||
		    !S_ISDIR(st.st_mode))
			continue;
		found++;
		for (int p = ZR_PLACE_MAP; p <= ZR_PLACE_READ; p++) {
			int rc = look_at(path, 0, (enum zr_placement)p, ex);

			CHECK(!rc || !good, "%s: %d", path, rc);
			whole += !rc;
			if (!good)
				(void)look_at(path, ZR_OPEN_RECOVER,
					      (enum zr_placement)p, ex);
		}
	}
	if (d)
		closedir(d);
	CHECK(good || whole < 3 * found, "nothing bad in %s", folder);
	return found;
}

int main(void)
{
	struct zr_executor *ex;
	struct scratch dir;
	unsigned good, bad;

	scratch_make(&dir);
	MUST(zr_executor_new(&ex, 2));
	for (int k = 0; k < KINDS; k++) {
		const char *path = scratch_path(&dir, data_kinds[k].name);

		data_build(path, &data_kinds[k], RECORDS, ex);
		for (int p = ZR_PLACE_MAP; p <= ZR_PLACE_READ; p++)
			CHECK(look_at(path,
				      p == ZR_PLACE_READ ? ZR_OPEN_CHECK : 0,
				      (enum zr_placement)p, ex) == 0,
			      "%s", path);
	}
	good = look_at_all("golden", true, ex);
	bad = look_at_all("bad", false, ex);
	CHECK(good >= 50 && bad >= 50, "%u good, %u bad", good, bad);
	zr_executor_free(ex);
	scratch_remove(&dir);
	if (!failures)
		puts("engine_memory: ok");
	return failures != 0;
}
