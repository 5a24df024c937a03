/* SPDX-License-Identifier: BSD-2-Clause
 * Containers that loaderx wrote: what we read is what it was given. */
#include <criterion/criterion.h>
#include <errno.h>

#include "expect.h"

struct golden {
	struct expect_container *all;
	size_t count;
};

static struct golden g;

static void setup(void)
{
	g.all = expect_load(&g.count);
}

static void teardown(void)
{
	expect_free(g.all, g.count);
}

TestSuite(golden, .init = setup, .fini = teardown, .timeout = 60);

/* Call `fn` for each container, open and with a reader. */
static void each(struct zr_executor *ex,
		 void (*fn)(const struct expect_container *want,
			    const struct zr_container *c, struct zr_reader *r))
{
	struct zr_container *c;
	struct zr_reader *r;
	struct zr_error err;
	char path[512];

	for (size_t i = 0; i < g.count; i++) {
		snprintf(path, sizeof(path), "%s/golden/%s", TEST_DATA,
			 g.all[i].name);
		cr_assert(zr_open(&c, path, NULL, &err) == 0, "%s",
			  err.message);
		cr_assert(zr_reader_new(&r, c, ex) == 0);
		fn(&g.all[i], c, r);
		zr_reader_free(r);
		zr_close(c);
	}
}

Test(golden, sha256_is_the_one_of_the_standard)
{
	static const struct {
		const char *text, *sum;
	} table[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb924"
		      "27ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223"
			 "b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039"
		  "a33ce45964ff2167f6ecedd419db06c1" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct sha256 sum;
		char text[65];

		sha256_init(&sum);
		sha256_add(&sum, table[i].text, strlen(table[i].text));
		sha256_text(&sum, text);
		cr_expect_str_eq(text, table[i].sum);
	}
}

Test(golden, all_57_containers_are_there)
{
	cr_expect(g.count == 57, "%zu", g.count);
}

static void describes(const struct expect_container *want,
		      const struct zr_container *c, struct zr_reader *r)
{
	static const char *const codec[] = { "raw", "zstd", "zstd_dict" };
	const struct zr_info *info = zr_info(c);
	bool dense = !strcmp(want->kind, "dense");
	uint64_t bytes = 0;

	(void)r;
	cr_expect((info->kind == ZR_DENSE) == dense, "%s", want->name);
	cr_expect_str_eq(info->dtype.str, want->dtype, "%s", want->name);
	cr_expect_str_eq(codec[info->codec], want->codec, "%s", want->name);
	cr_expect(info->records == want->records, "%s", want->name);
	cr_expect(expect_same_shape(&info->item_shape, &want->item_shape),
		  "%s: item_shape", want->name);
	cr_expect(info->published && !info->checksums, "%s", want->name);
	cr_expect((info->dict_bytes > 0) == (info->codec == ZR_ZSTD_DICT), "%s",
		  want->name);
	cr_expect(zr_shape_size(&info->dtype, &want->item_shape, NULL,
				&bytes) == 0);
	cr_expect(info->record_bytes == (dense ? bytes : 0), "%s", want->name);
	if (dense)
		cr_expect(zr_logical_bytes(c) == bytes * want->records, "%s",
			  want->name);
}

Test(golden, info_is_what_was_created)
{
	each(NULL, describes);
}

static void reads(const struct expect_container *want,
		  const struct zr_container *c, struct zr_reader *r)
{
	size_t size;
	unsigned char *buf = expect_room(c, &size);

	for (uint64_t i = 0; i < want->records; i++) {
		const struct expect_record *rec = &want->record[i];
		struct zr_shape shape, early;
		struct zr_error err;
		uint64_t bytes, early_bytes;
		char sum[65];

		cr_assert(zr_record_shape(r, i, &early, &early_bytes, &err) ==
				  0,
			  "%s", err.message);
		cr_assert(zr_read(r, i, buf, size, &bytes, &shape, &err) == 0,
			  "%s", err.message);
		cr_expect(expect_same_shape(&shape, &rec->shape),
			  "%s: shape of record %lu", want->name, i);
		cr_expect(expect_same_shape(&early, &shape) &&
				  early_bytes == bytes,
			  "%s: early shape of record %lu", want->name, i);
		expect_digest(sum, &zr_info(c)->dtype, &shape, buf, bytes);
		cr_expect_str_eq(sum, rec->sha256, "%s: record %lu", want->name,
				 i);
		cr_expect(zr_check(r, i, &err) == 0, "%s", err.message);
	}
	cr_expect(zr_read(r, want->records, buf, size, NULL, NULL, NULL) ==
			  -ERANGE,
		  "%s: one past the end", want->name);
	free(buf);
}

Test(golden, every_record_is_the_npy_file_that_numpy_saved)
{
	each(NULL, reads);
}

/* A request of 3 N + 7 ids in no order, with repetitions and runs. */
static uint64_t *request(uint64_t records, size_t *count)
{
	uint64_t *ids, x = 88172645463325252u;

	*count = records ? (size_t)records * 3 + 7 : 0;
	ids = malloc((*count + 1) * sizeof(*ids));
	for (size_t i = 0; i < *count; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		ids[i] = i % 5 == 4 ? (ids[i - 1] + 1) % records : x % records;
	}
	return ids;
}

static void expect_bytes(struct zr_reader *r, uint64_t id, const void *got,
			 uint64_t bytes, void *buf, size_t size,
			 const char *name)
{
	uint64_t n;

	cr_assert(zr_read(r, id, buf, size, &n, NULL, NULL) == 0);
	cr_expect(n == bytes && !memcmp(got, buf, n),
		  "%s: gathered record %lu is not the read one", name, id);
}

static void gathers(const struct expect_container *want,
		    const struct zr_container *c, struct zr_reader *r)
{
	const struct zr_info *info = zr_info(c);
	size_t size, count;
	unsigned char *buf = expect_room(c, &size);
	uint64_t *ids = request(want->records, &count);
	struct zr_ragged batch = { 0 };
	struct zr_error err;

	if (info->kind == ZR_DENSE) {
		size_t room = count * info->record_bytes;
		unsigned char *dst = malloc(room + 1);

		dst[room] = 0xA5;
		cr_assert(zr_gather_dense(r, ids, count, dst, room, &err) == 0,
			  "%s", err.message);
		cr_expect(dst[room] == 0xA5, "%s: wrote past", want->name);
		for (size_t i = 0; i < count; i++)
			expect_bytes(r, ids[i], dst + i * info->record_bytes,
				     info->record_bytes, buf, size, want->name);
		cr_expect(zr_gather_ragged(r, ids, count, &batch, NULL) ==
			  -EINVAL);
		free(dst);
	} else {
		cr_assert(zr_gather_ragged(r, ids, count, &batch, &err) == 0,
			  "%s", err.message);
		cr_expect(batch.count == count);
		for (size_t i = 0; i < count; i++) {
			const struct zr_shape *s = &want->record[ids[i]].shape;
			uint64_t at = batch.dim_offsets[i];

			cr_expect(batch.dim_offsets[i + 1] - at == s->rank &&
					  !memcmp(batch.dims + at, s->dims,
						  s->rank * sizeof(uint64_t)),
				  "%s: shape of record %lu", want->name,
				  ids[i]);
			expect_bytes(r, ids[i], batch.values + batch.offsets[i],
				     batch.offsets[i + 1] - batch.offsets[i],
				     buf, size, want->name);
		}
		cr_expect(zr_gather_dense(r, ids, count, buf, size, NULL) ==
			  -EINVAL);
	}
	zr_ragged_free(&batch);
	free(ids);
	free(buf);
}

Test(golden, a_gather_is_the_reads_in_request_order)
{
	each(NULL, gathers);
}

Test(golden, a_gather_on_many_threads_is_the_same)
{
	struct zr_executor *ex;

	cr_assert(zr_executor_new(&ex, 4) == 0);
	each(ex, gathers);
	zr_executor_free(ex);
}

static void parts(const struct expect_container *want,
		  const struct zr_container *c, struct zr_reader *r)
{
	size_t size;
	unsigned char *buf = expect_room(c, &size), *part = malloc(size);

	for (uint64_t i = 0; i < want->records; i++) {
		uint64_t n, first, len;

		cr_assert(zr_read(r, i, buf, size, &n, NULL, NULL) == 0);
		first = n / 3;
		len = (n - first + 1) / 2;
		cr_assert(zr_read_part(r, i, first, part, len, NULL) == 0);
		cr_expect(!memcmp(part, buf + first, len),
			  "%s: part of record %lu", want->name, i);
		cr_expect(zr_read_part(r, i, first, part, n - first + 1,
				       NULL) == -EINVAL,
			  "%s: past record %lu", want->name, i);
	}
	free(part);
	free(buf);
}

Test(golden, a_part_is_the_same_bytes)
{
	each(NULL, parts);
}
