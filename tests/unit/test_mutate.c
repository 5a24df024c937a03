/* SPDX-License-Identifier: BSD-2-Clause
 * Small containers with each byte set to 0, 255, ^1 and ^128, and cut to each
 * length: every record reads as the right bytes or as an error.
 *
 * With a sidecar there is no exception: what is served is what was stored, and
 * some error tells of each change. Without one, the format cannot tell that
 * - a byte of a raw record, in data.zr, was changed: it is served as it is
 *   there, as long as the shape in front of a Ragged one still fits;
 * - a byte of a zstd frame, in data.zr, was changed, if the frame still decodes
 *   to the length of the table: bytes of that length are served;
 * - the dictionary was changed or cut, if it still is one of the same id:
 *   likewise, for every record;
 * - a table entry of a raw record names another span of the same length, or
 *   one of a compressed record names another record's whole frame;
 * - `length` in the header is smaller: the first records are served.
 * All else is right or refused there too.
 *
 * A subset of the places by default, all of them with ZR_LONG=1. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>

#include "make.h"
#include "scratch.h"

#define RECORDS 6u
#define WORDS 16u /* of a Dense record */
#define TABLE 4096u
#define ENTRY 16u
#define ROOM (1296 * 4)
#define SPARSE 37u /* step through what is much alike */
#define MEMORY ((rlim_t)64 << 20)
#define SECONDS 2.0 /* for one change, on a busy machine */

enum file { META, DATA, DICT, CHECK, FILES };

static const char *const names[FILES] = { "meta.zr", "data.zr", "dict.zr",
					  "check.zr" };

static struct {
	int fd; /* -1: there is none */
	unsigned char *bytes;
	size_t size;
} file[FILES];

/* What a record holds: a bare one, without its shape. */
struct record {
	int rc;
	size_t bytes;
	struct zr_shape shape;
	unsigned char at[ROOM];
};

static struct record right[RECORDS], got[RECORDS];
static struct scratch s;
static const char *path;
static bool ragged, sums;
static enum zr_codec codec;

/* The change that is in place; `cut` or a byte. */
static struct {
	enum file file;
	bool cut;
	size_t at;
	unsigned value;
	uint32_t flags; /* of zr_open */
} here;

#define check(cond)                                                            \
	cr_assert(cond, "%s %s %zu to %u, flags %u: %s", names[here.file],     \
		  here.cut ? "cut at" : "byte", here.at, here.value,           \
		  here.flags, #cond)

static void setup(void)
{
	scratch_make(&s);
	for (int f = 0; f < FILES; f++)
		file[f].fd = -1;
}

static void teardown(void)
{
	for (int f = 0; f < FILES; f++) {
		free(file[f].bytes);
		if (file[f].fd >= 0)
			close(file[f].fd);
	}
	scratch_remove(&s);
}

TestSuite(mutate, .init = setup, .fini = teardown, .timeout = 600);

/* ---- Reading all that is there --------------------------------------------
 */

static uint64_t items_of(const struct zr_shape *shape)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < shape->rank; i++)
		n *= shape->dims[i];
	return n;
}

/* A gather of all records agrees with reading them one by one. */
static void gather_agrees(struct zr_reader *r, size_t count)
{
	static unsigned char buf[RECORDS * ROOM];
	static const uint64_t ids[RECORDS] = { 0, 1, 2, 3, 4, 5 };
	struct zr_ragged b = { 0 };
	int rc, wanted = 0;

	for (size_t i = 0; i < count && !wanted; i++)
		wanted = got[i].rc;
	if (ragged)
		rc = zr_gather_ragged(r, ids, count, &b, NULL);
	else
		rc = zr_gather_dense(r, ids, count, buf, sizeof(buf), NULL);
	check(rc == wanted);
	for (size_t i = 0; i < count && !rc; i++) {
		const unsigned char *p = ragged ? b.values + b.offsets[i]
						: buf + i * got[i].bytes;

		check(!ragged ||
		      b.offsets[i + 1] - b.offsets[i] == got[i].bytes);
		check(!memcmp(p, got[i].at, got[i].bytes));
	}
	zr_ragged_free(&b);
}

/* Read every record into got[]; returns how many there are, or what zr_open
 * or, without `refused`, any of zr_check said. */
static int read_all(int *refused)
{
	struct zr_open_options opt = { sizeof(opt), here.flags,
				       here.at % 2 ? ZR_PLACE_MAP
						   : ZR_PLACE_READ };
	struct zr_container *c;
	struct zr_reader *r;
	int rc = zr_open(&c, path, &opt, NULL), count;

	if (rc)
		return rc;
	check(zr_info(c)->records <= RECORDS);
	count = (int)zr_info(c)->records;
	check(zr_reader_new(&r, c, NULL) == 0);
	for (int i = 0; i < count; i++) {
		struct record *g = &got[i];
		uint64_t bytes = 0;
		int checked;

		g->rc = zr_read(r, (uint64_t)i, g->at, sizeof(g->at), &bytes,
				&g->shape, NULL);
		g->bytes = (size_t)bytes;
		check(!g->rc || g->rc == -EBADMSG);
		check(g->rc || items_of(&g->shape) * 4 == bytes);
		checked = zr_check(r, (uint64_t)i, NULL);
		check(checked == g->rc ||
		      (sums && !g->rc && checked == -EBADMSG &&
		       !(here.flags & ZR_OPEN_CHECK)));
		if (checked)
			*refused = checked;
	}
	gather_agrees(r, (size_t)count);
	zr_reader_free(r);
	zr_close(c);
	return count;
}

/* ---- What may be served ---------------------------------------------------
 */

static bool same(const struct record *a, const struct record *b)
{
	return a->bytes == b->bytes && !memcmp(a->at, b->at, a->bytes);
}

static uint64_t number(const unsigned char *p, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

/* The files in memory are changed like those on disk. */
static bool is_its_span(size_t i)
{
	const unsigned char *e = file[META].bytes + TABLE + i * ENTRY;
	const unsigned char *p = file[DATA].bytes + number(e, 8);
	size_t prefix = ragged ? 1 + 8 * (size_t)p[0] : 0;

	return got[i].bytes == number(e + 8, 4) - prefix &&
	       !memcmp(got[i].at, p + prefix, got[i].bytes);
}

static bool is_another(size_t i)
{
	for (size_t k = 0; k < RECORDS; k++)
		if (same(&got[i], &right[k]))
			return true;
	return false;
}

/* Whether other bytes than the right ones are excused for record i: see the
 * top. */
static bool excused(size_t i)
{
	const unsigned char *e = file[META].bytes + TABLE + i * ENTRY;
	size_t bytes = (size_t)number(e + 12, 4);

	if (here.file == DICT)
		return true;
	if (here.cut)
		return false;
	if (here.file == META) {
		if (here.at < TABLE || (here.at - TABLE) / ENTRY != i)
			return false;
		return codec == ZR_RAW ? is_its_span(i) : is_another(i);
	}
	if (here.at - number(e, 8) >= number(e + 8, 4))
		return false;
	if (codec == ZR_RAW)
		return is_its_span(i);
	if (ragged)
		bytes -= 1 + 8 * (size_t)got[i].shape.rank;
	return got[i].bytes == bytes;
}

/* The change is in place, on disk and in memory. */
static void look(void)
{
	struct timespec from, to;
	int refused = 0, count;

	clock_gettime(CLOCK_MONOTONIC, &from);
	count = read_all(&refused);
	clock_gettime(CLOCK_MONOTONIC, &to);
	check((double)(to.tv_sec - from.tv_sec) +
		      (double)(to.tv_nsec - from.tv_nsec) / 1e9 <
	      SECONDS);
	check(count >= 0 || count == -EUCLEAN || count == -ENODATA);
	if (sums)
		check(count < 0 || refused);
	else if (here.cut && here.file != DICT)
		check(count == -EUCLEAN);
	for (int i = 0; i < count; i++)
		check(got[i].rc || same(&got[i], &right[i]) ||
		      (!(here.flags & ZR_OPEN_CHECK) && excused((size_t)i)));
	check(count < 0 || count == RECORDS ||
	      (here.file == META && here.at < 8 && !sums));
}

/* ---- Changes ---------------------------------------------------------------
 */

static void change_byte(enum file f, size_t at, unsigned value)
{
	unsigned char *p = file[f].bytes + at, old = *p;

	if (value == old)
		return;
	here.cut = false;
	here.at = at;
	here.value = value;
	*p = (unsigned char)value;
	check(pwrite(file[f].fd, p, 1, (off_t)at) == 1);
	look();
	*p = old;
	check(pwrite(file[f].fd, p, 1, (off_t)at) == 1);
}

/* Headers, entries and stored bytes are few; padding and dictionary are not.
 * Returns the next place to change, or to cut at. */
static size_t next_place(enum file f, size_t at)
{
	bool dense = f == META ? at < 96 || at >= TABLE : f != DICT;

	if (dense || getenv("ZR_LONG"))
		return at + 1;
	if (f == META && at + SPARSE > TABLE)
		return TABLE;
	return at + SPARSE;
}

static void change_all(enum file f, uint32_t flags)
{
	here.file = f;
	here.flags = flags;
	for (size_t at = 0; at < file[f].size; at = next_place(f, at)) {
		unsigned old = file[f].bytes[at];

		change_byte(f, at, 0);
		change_byte(f, at, 255);
		change_byte(f, at, old ^ 1);
		change_byte(f, at, old ^ 128);
	}
	here.cut = true;
	for (size_t at = 0; at < file[f].size; at = next_place(f, at)) {
		here.at = at;
		check(ftruncate(file[f].fd, (off_t)at) == 0);
		look();
		check(pwrite(file[f].fd, file[f].bytes, file[f].size, 0) ==
		      (ssize_t)file[f].size);
	}
}

static void load(void)
{
	for (int f = 0; f < FILES; f++) {
		char name[1024];
		struct stat st;

		snprintf(name, sizeof(name), "%s/%s", path, names[f]);
		file[f].fd = open(name, O_RDWR);
		if (file[f].fd < 0)
			continue;
		cr_assert(fstat(file[f].fd, &st) == 0);
		file[f].size = (size_t)st.st_size;
		file[f].bytes = malloc(file[f].size);
		cr_assert(pread(file[f].fd, file[f].bytes, file[f].size, 0) ==
			  st.st_size);
	}
}

/* No number of a container makes us take much memory. */
static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__)
	FILE *f = fopen("/proc/self/statm", "r");
	struct rlimit lim;
	unsigned long pages;

	cr_assert(f && fscanf(f, "%lu", &pages) == 1);
	fclose(f);
	getrlimit(RLIMIT_AS, &lim);
	lim.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + MEMORY;
	cr_assert(setrlimit(RLIMIT_AS, &lim) == 0);
#endif
}

static void mutate(bool is_ragged, enum zr_codec use, bool with_sums)
{
	int refused = 0;

	ragged = is_ragged;
	codec = use;
	sums = with_sums;
	path = scratch_path(&s, "c.zr");
	cr_assert(make_container(path, codec, RECORDS, ragged ? 0 : WORDS, NULL,
				 NULL) == 0);
	if (!sums)
		unlink(scratch_path(&s, "c.zr/check.zr"));
	load();
	cr_assert(sums == (file[CHECK].fd >= 0));
	limit_memory();
	cr_assert(read_all(&refused) == RECORDS && !refused);
	memcpy(right, got, sizeof(got));
	for (int f = 0; f < FILES; f++) {
		if (file[f].fd < 0)
			continue;
		change_all((enum file)f, 0);
		if (sums)
			change_all((enum file)f, ZR_OPEN_CHECK);
	}
	here.flags = 0;
	cr_assert(read_all(&refused) == RECORDS && !refused);
}

#define MUTATE(name, is_ragged, codec)                                         \
	Test(mutate, name)                                                     \
	{                                                                      \
		mutate(is_ragged, codec, false);                               \
	}                                                                      \
	Test(mutate, name##_with_sidecar)                                      \
	{                                                                      \
		mutate(is_ragged, codec, true);                                \
	}

MUTATE(dense_raw, false, ZR_RAW)
MUTATE(dense_zstd, false, ZR_ZSTD)
MUTATE(dense_dict, false, ZR_ZSTD_DICT)
MUTATE(ragged_raw, true, ZR_RAW)
MUTATE(ragged_zstd, true, ZR_ZSTD)
MUTATE(ragged_dict, true, ZR_ZSTD_DICT)
