/* SPDX-License-Identifier: BSD-2-Clause
 * Malformed containers: what is wrong as a whole does not open, what is wrong
 * with one record is an error of that record alone. */
#include <criterion/criterion.h>
#include <errno.h>

#include "expect.h"

struct bad {
	char name[64];
	char base[64];
	char open[16]; /* ok, error or unpublished */
	size_t bad_count;
	uint64_t bad[64];
	uint64_t twin, twin_of; /* record `twin` is the base's `twin_of` */
};

struct tables {
	struct expect_container *golden;
	size_t golden_count;
	struct bad *bad;
	size_t count;
};

static struct tables t;

static void setup(void)
{
	FILE *f = expect_open("bad");
	char ids[512], twin[64];
	struct bad b = { 0 };

	t.golden = expect_load(&t.golden_count);
	t.bad = NULL;
	t.count = 0;
	while (fscanf(f, "%63s %63s %15s %511s %63s\n", b.name, b.base, b.open,
		      ids, twin) == 5) {
		b.bad_count = expect_numbers(ids, b.bad, 64);
		b.twin = ZR_NONE;
		if (strcmp(twin, "-"))
			cr_assert(sscanf(twin, "%lu=%lu", &b.twin,
					 &b.twin_of) == 2);
		t.bad = realloc(t.bad, (t.count + 1) * sizeof(b));
		t.bad[t.count++] = b;
	}
	cr_assert(feof(f), "expect.tsv is damaged after %s", b.name);
	fclose(f);
}

static void teardown(void)
{
	expect_free(t.golden, t.golden_count);
	free(t.bad);
}

TestSuite(bad, .init = setup, .fini = teardown, .timeout = 60);

static const struct expect_container *base_of(const struct bad *b)
{
	for (size_t i = 0; i < t.golden_count; i++)
		if (!strcmp(t.golden[i].name, b->base))
			return &t.golden[i];
	cr_assert(0, "%s: no base %s", b->name, b->base);
	return NULL;
}

static bool is_bad(const struct bad *b, uint64_t id)
{
	for (size_t i = 0; i < b->bad_count; i++)
		if (b->bad[i] == id)
			return true;
	return false;
}

static int open_bad(struct zr_container **c, const struct bad *b,
		    const struct zr_open_options *opt, struct zr_error *err)
{
	char path[512];

	memset(err, 0, sizeof(*err));
	snprintf(path, sizeof(path), "%s/bad/%s", TEST_DATA, b->name);
	return zr_open(c, path, opt, err);
}

/* Call `fn` for each container that opens. */
static void each(struct zr_executor *ex,
		 void (*fn)(const struct bad *b, const struct zr_container *c,
			    struct zr_reader *r))
{
	struct zr_container *c;
	struct zr_reader *r;
	struct zr_error err;

	for (size_t i = 0; i < t.count; i++) {
		if (strcmp(t.bad[i].open, "ok"))
			continue;
		cr_assert(open_bad(&c, &t.bad[i], NULL, &err) == 0, "%s: %s",
			  t.bad[i].name, err.message);
		cr_assert(zr_reader_new(&r, c, ex) == 0);
		fn(&t.bad[i], c, r);
		zr_reader_free(r);
		zr_close(c);
	}
}

/* A message says which container it is about, on one line. */
static void expect_message(const struct bad *b, int rc,
			   const struct zr_error *err)
{
	cr_expect(err->code == rc, "%s: code %d, returned %d", b->name,
		  err->code, rc);
	cr_expect(strstr(err->message, b->name) && !strchr(err->message, '\n'),
		  "%s: '%s'", b->name, err->message);
	cr_expect(strstr(err->path, b->name) != NULL, "%s: path '%s'", b->name,
		  err->path);
}

Test(bad, all_78_containers_are_there)
{
	cr_expect(t.count == 78, "%zu", t.count);
}

Test(bad, a_malformed_container_does_not_open)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	struct zr_container *c;
	struct zr_error err;
	int rc;

	for (size_t i = 0; i < t.count; i++) {
		const struct bad *b = &t.bad[i];

		if (strcmp(b->open, "error"))
			continue;
		for (opt.flags = 0; opt.flags <= ZR_OPEN_UNPUBLISHED;
		     opt.flags++) {
			c = (struct zr_container *)&opt;
			rc = open_bad(&c, b, &opt, &err);
			cr_expect(rc == -EUCLEAN, "%s: %d", b->name, rc);
			cr_expect(c == NULL, "%s", b->name);
			expect_message(b, rc, &err);
			if (rc == 0)
				zr_close(c);
		}
	}
}

Test(bad, an_unpublished_container_opens_only_when_asked)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	struct zr_container *c;
	struct zr_error err;
	size_t seen = 0;

	for (size_t i = 0; i < t.count; i++) {
		const struct bad *b = &t.bad[i];

		if (strcmp(b->open, "unpublished"))
			continue;
		seen++;
		opt.flags = 0;
		cr_expect(open_bad(&c, b, &opt, &err) == -ENODATA);
		cr_expect(c == NULL);
		expect_message(b, -ENODATA, &err);
		opt.flags = ZR_OPEN_UNPUBLISHED;
		cr_assert(open_bad(&c, b, &opt, &err) == 0, "%s", err.message);
		cr_expect(!zr_info(c)->published && zr_info(c)->records == 0);
		zr_close(c);
	}
	cr_expect(seen == 1);
}

static void records(const struct bad *b, const struct zr_container *c,
		    struct zr_reader *r)
{
	const struct expect_container *base = base_of(b);
	size_t size;
	unsigned char *buf = expect_room(c, &size);

	cr_assert(zr_info(c)->records == base->records, "%s", b->name);
	for (uint64_t i = 0; i < base->records; i++) {
		struct zr_error err = { 0 };
		struct zr_shape shape;
		uint64_t bytes;
		char sum[65];
		int rc = zr_read(r, i, buf, size, &bytes, &shape, &err);

		if (is_bad(b, i)) {
			cr_expect(rc == -EBADMSG, "%s: read of %lu gives %d",
				  b->name, i, rc);
			cr_expect(err.record == i, "%s: %lu", b->name, i);
			expect_message(b, rc, &err);
			memset(&err, 0, sizeof(err));
			rc = zr_check(r, i, &err);
			cr_expect(rc == -EBADMSG, "%s: check of %lu gives %d",
				  b->name, i, rc);
			cr_expect(err.record == i, "%s: %lu", b->name, i);
			continue;
		}
		cr_assert(rc == 0, "%s: %s", b->name, err.message);
		expect_digest(sum, &zr_info(c)->dtype, &shape, buf, bytes);
		cr_expect_str_eq(
			sum, base->record[i == b->twin ? b->twin_of : i].sha256,
			"%s: record %lu", b->name, i);
		cr_expect(zr_check(r, i, NULL) == 0, "%s: check of %lu",
			  b->name, i);
	}
	free(buf);
}

Test(bad, a_bad_record_is_an_error_and_its_neighbours_are_served)
{
	each(NULL, records);
}

static int gather(const struct zr_container *c, struct zr_reader *r,
		  const uint64_t *ids, size_t count, struct zr_error *err)
{
	size_t room = count * zr_info(c)->record_bytes;
	struct zr_ragged batch = { 0 };
	unsigned char *dst;
	int rc;

	memset(err, 0, sizeof(*err));
	if (zr_info(c)->kind == ZR_RAGGED) {
		rc = zr_gather_ragged(r, ids, count, &batch, err);
		if (rc)
			cr_expect(batch.count == 0, "a failed batch is empty");
		zr_ragged_free(&batch);
		return rc;
	}
	dst = malloc(room + 1);
	rc = zr_gather_dense(r, ids, count, dst, room, err);
	free(dst);
	return rc;
}

static void gathers(const struct bad *b, const struct zr_container *c,
		    struct zr_reader *r)
{
	uint64_t n = zr_info(c)->records, ids[320];
	size_t good = 0;
	struct zr_error err;
	int rc;

	for (uint64_t i = 0; i < n; i++)
		if (!is_bad(b, i))
			ids[good++] = i;
	rc = gather(c, r, ids, good, &err);
	cr_expect(rc == 0, "%s: %s", b->name, err.message);
	for (size_t k = 0; k < b->bad_count; k++) {
		ids[good] = b->bad[k];
		rc = gather(c, r, ids, good + 1, &err);
		cr_expect(rc == -EBADMSG, "%s: gather with %lu gives %d",
			  b->name, b->bad[k], rc);
		cr_expect(err.record == b->bad[k],
			  "%s: gather names record %lu, not %lu", b->name,
			  err.record, b->bad[k]);
		expect_message(b, rc, &err);
	}
}

Test(bad, a_gather_names_the_bad_record)
{
	each(NULL, gathers);
}

Test(bad, a_gather_on_many_threads_names_the_bad_record)
{
	struct zr_executor *ex;

	cr_assert(zr_executor_new(&ex, 4) == 0);
	each(ex, gathers);
	zr_executor_free(ex);
}

/* The early shape may be right although the record is bad further on, but it
 * is never more than the record can hold. */
static void shapes(const struct bad *b, const struct zr_container *c,
		   struct zr_reader *r)
{
	for (uint64_t i = 0; i < zr_info(c)->records; i++) {
		struct zr_shape shape;
		struct zr_error err;
		uint64_t bytes = 0, bound = zr_record_bound(c, i);
		int rc = zr_record_shape(r, i, &shape, &bytes, &err);

		if (!is_bad(b, i))
			cr_expect(rc == 0, "%s: %s", b->name, err.message);
		else
			cr_expect(rc == 0 || rc == -EBADMSG, "%s: %lu: %d",
				  b->name, i, rc);
		if (rc == 0 && bound)
			cr_expect(bytes <= bound && shape.rank <= ZR_RANK_MAX,
				  "%s: %lu", b->name, i);
	}
}

Test(bad, an_early_shape_stays_in_bounds)
{
	each(NULL, shapes);
}
