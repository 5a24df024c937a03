/* SPDX-License-Identifier: BSD-2-Clause
 * Tasks of a gather: each record is in one of them, and a page of fresh memory
 * too, but for its first record. */
#include <criterion/criterion.h>
#include <sys/mman.h>

#include "make.h"
#include "read/split.h"
#include "scratch.h"

#define PAGE ((size_t)2 << 20)

/* Each record once. */
static void expect_all(const struct zr_split *s, const char *what)
{
	unsigned char *seen = calloc(s->count, 1);
	size_t first, end, sum = 0;

	for (size_t t = 0; t < zr_split_tasks(s); t++) {
		zr_split_span(s, t, &first, &end);
		cr_assert(first <= end && end <= s->count, "%s: task %zu", what,
			  t);
		for (size_t i = first; i < end; i++, sum++)
			cr_assert(!seen[i]++, "%s: record %zu", what, i);
	}
	cr_expect(sum == s->count, "%s: %zu of %zu", what, sum, s->count);
	free(seen);
}

static void *fresh(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert(p != MAP_FAILED);
	return p;
}

Test(split, runs_where_memory_is_there_or_hardly_any)
{
	struct zr_split s = { .count = 1000, .run = 7, .width = 100000 };
	unsigned char *p = fresh(s.count * s.width);

	zr_split_fresh(&s, p, s.count * s.width, 1);
	cr_expect(!s.chunks, "one thread");
	zr_split_fresh(&s, p, 3 * PAGE, 2);
	cr_expect(!s.chunks, "three pages");
	memset(p, 1, s.count * s.width);
	zr_split_fresh(&s, p, s.count * s.width, 2);
	cr_expect(!s.chunks, "not fresh");
	cr_expect(zr_split_tasks(&s) == 143);
	expect_all(&s, "runs");
	munmap(p, s.count * s.width);
}

Test(split, chunks_are_whole_pages)
{
	static const size_t widths[] = { 200, 4096, 150528, PAGE, 5 * PAGE + 1 };
	static const size_t starts[] = { 0, 16, 4096, PAGE - 1 };
	unsigned char *p = fresh(100 * PAGE);

	for (size_t k = 0; k < 20; k++) {
		struct zr_split s = { .width = widths[k / 4], .run = 3 };
		unsigned char *dst = p + starts[k % 4];

		s.count = 90 * PAGE / s.width;
		zr_split_fresh(&s, dst, s.count * s.width, 2 + k % 3);
		cr_assert(s.chunks > 1);
		cr_expect(((uintptr_t)dst + s.start) % PAGE == 0 &&
			  s.chunk % PAGE == 0);
		cr_expect(s.start + s.chunks * s.chunk <= s.count * s.width);
		expect_all(&s, "chunks");
	}
	munmap(p, 100 * PAGE);
}

Test(split, records_of_any_length)
{
	enum { count = 3000 };
	static uint64_t places[count];
	uint64_t at = 0;
	unsigned char *p;

	for (uint64_t i = 0; i < count; i++) {
		places[i] = at;
		at += i % 50 ? i * 13 % 40000 : 6 * PAGE;
	}
	p = fresh(at);
	for (unsigned threads = 2; threads < 20; threads++) {
		struct zr_split s = { .count = count,
				      .run = threads,
				      .places = places };

		zr_split_fresh(&s, p + threads, at - threads, threads);
		cr_assert(s.chunks > 1);
		expect_all(&s, "Ragged");
	}
	munmap(p, at);
}

/* Whole gathers into memory that is new each time. */
static void gather(enum zr_placement placement, size_t words)
{
	enum { records = 300, count = 2000 };
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	size_t size = count * words * 4 + 4096;
	struct zr_executor *ex;
	struct zr_container *c;
	struct zr_reader *r;
	uint64_t ids[count];
	struct scratch s;

	scratch_make(&s);
	opt.placement = placement;
	cr_assert(!make_container(scratch_path(&s, "c"), ZR_RAW, records, words,
				  NULL, NULL));
	cr_assert(!zr_open(&c, scratch_path(&s, "c"), &opt, NULL));
	cr_assert(!zr_executor_new(&ex, 3) && !zr_reader_new(&r, c, ex));
	for (size_t k = 0; k < 5; k++) {
		unsigned char *p = fresh(size), *dst = p + 16 * k;

		for (size_t i = 0; i < count; i++)
			ids[i] = (i * 7919 + k) % records;
		cr_assert(!zr_gather_dense(r, ids, count, dst, size - 16 * k,
					   NULL));
		for (size_t i = 0; i < count; i++)
			for (size_t j = 0; j < words; j += 97) {
				int32_t v;

				memcpy(&v, dst + (i * words + j) * 4, 4);
				cr_assert(v == make_item(ids[i], j),
					  "record %zu", i);
			}
		munmap(p, size);
	}
	zr_reader_free(r);
	zr_close(c);
	zr_executor_free(ex);
	scratch_remove(&s);
}

Test(split, gathers_into_fresh_memory, .timeout = 60)
{
	gather(ZR_PLACE_MAP, 5000);
	gather(ZR_PLACE_READ, 5000);
}

Test(split, ragged_gathers_too, .timeout = 60)
{
	enum { records = 500, count = 300000 };
	struct zr_ragged b = { 0 };
	struct zr_executor *ex;
	struct zr_container *c;
	struct zr_reader *r;
	uint64_t *ids = malloc(count * sizeof(*ids));
	struct scratch s;

	scratch_make(&s);
	cr_assert(!make_container(scratch_path(&s, "c"), ZR_RAW, records, 0,
				  NULL, NULL));
	cr_assert(!zr_open(&c, scratch_path(&s, "c"), NULL, NULL));
	cr_assert(!zr_executor_new(&ex, 3) && !zr_reader_new(&r, c, ex));
	for (size_t i = 0; i < count; i++)
		ids[i] = i * 7919 % records;
	cr_assert(!zr_gather_ragged(r, ids, count, &b, NULL));
	cr_assert(b.offsets[count] > 8 * PAGE, "long enough to be divided");
	for (size_t i = 0; i < count; i++) {
		int32_t v, w = make_item(ids[i], make_items(ids[i]) - 1);

		memcpy(&v, b.values + b.offsets[i + 1] - 4, 4);
		cr_assert(v == w, "record %zu", i);
	}
	zr_ragged_free(&b);
	free(ids);
	zr_reader_free(r);
	zr_close(c);
	zr_executor_free(ex);
	scratch_remove(&s);
}
