/* SPDX-License-Identifier: BSD-2-Clause
 * Building containers: what appears, when, and what does not. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <zstd.h>

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

TestSuite(writer, .init = setup, .fini = teardown);

static size_t file_bytes(const char *dir, const char *name, char **out)
{
	char path[1024];
	struct stat st;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "rb");
	cr_assert(f != NULL, "%s", path);
	cr_assert(fstat(fileno(f), &st) == 0);
	*out = malloc((size_t)st.st_size + 1);
	cr_assert(fread(*out, 1, (size_t)st.st_size, f) == (size_t)st.st_size);
	fclose(f);
	return (size_t)st.st_size;
}

Test(writer, nothing_appears_before_publish_and_all_after)
{
	struct zr_dtype dtype = make_dtype("<i4");
	struct zr_shape shape = { 0 };
	const char *path = scratch_path(&s, "c.zr");
	struct zr_writer *w;
	struct zr_container *c;
	int32_t v[3] = { 1, 2, 3 };

	cr_assert(zr_create(&w, path, ZR_DENSE, &dtype, &shape, NULL, NULL) ==
		  0);
	cr_assert(zr_append_dense(w, v, 3, NULL) == 0);
	cr_expect(access(path, F_OK) != 0);
	cr_assert(zr_publish(w, NULL) == 0);
	cr_expect(scratch_count(&s) == 1, "only the container is left");
	cr_assert(zr_open(&c, path, NULL, NULL) == 0);
	cr_expect(zr_info(c)->records == 3);
	cr_expect(zr_info(c)->published);
	zr_close(c);
}

Test(writer, discard_leaves_nothing)
{
	struct zr_dtype dtype = make_dtype("<i4");
	struct zr_writer *w;

	cr_assert(zr_create(&w, scratch_path(&s, "c"), ZR_RAGGED, &dtype, NULL,
			    NULL, NULL) == 0);
	cr_expect(scratch_count(&s) == 1);
	zr_discard(w);
	cr_expect(scratch_count(&s) == 0);
	zr_discard(NULL);
}

Test(writer, refuses_what_exists)
{
	struct zr_dtype dtype = make_dtype("<i4");
	const char *names[] = { "dir", "file", "dangling" };
	struct zr_error err;
	struct zr_writer *w;

	mkdir(scratch_path(&s, "dir"), 0755);
	close(open(scratch_path(&s, "file"), O_CREAT | O_WRONLY, 0644));
	cr_assert(symlink("nowhere", scratch_path(&s, "dangling")) == 0);
	for (size_t i = 0; i < 3; i++) {
		cr_expect(zr_create(&w, scratch_path(&s, names[i]), ZR_RAGGED,
				    &dtype, NULL, NULL, &err) == -EEXIST,
			  "%s", names[i]);
		cr_expect(w == NULL && err.code == -EEXIST);
	}
	cr_expect(scratch_count(&s) == 3);
}

Test(writer, publish_replaces_nothing_made_meanwhile)
{
	struct zr_dtype dtype = make_dtype("<i4");
	const char *path = scratch_path(&s, "c");
	struct zr_error err;
	struct zr_writer *w;

	cr_assert(zr_create(&w, path, ZR_RAGGED, &dtype, NULL, NULL, NULL) ==
		  0);
	cr_assert(mkdir(path, 0755) == 0);
	cr_expect(zr_publish(w, &err) == -EEXIST);
	cr_expect(scratch_count(&s) == 1, "the build is removed");
}

Test(writer, refuses_bad_names_and_parents)
{
	static const struct {
		const char *path;
		int rc;
	} rows[] = {
		{ "", -EINVAL },
		{ "/", -EINVAL },
		{ ".", -EINVAL },
		{ "..", -EINVAL },
		{ "/tmp/", -EEXIST },
		{ "/nonexistent-dir/c", -ENOENT },
		{ "/dev/null/c", -ENOTDIR },
	};
	struct zr_dtype dtype = make_dtype("<i4");
	struct zr_writer *w;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(zr_create(&w, rows[i].path, ZR_RAGGED, &dtype, NULL,
				    NULL, NULL) == rows[i].rc,
			  "%s", rows[i].path);
}

Test(writer, long_names_and_trailing_slashes_work)
{
	char name[256];
	struct zr_dtype dtype = make_dtype("|u1");
	struct zr_writer *w;

	memset(name, 'n', 255);
	name[255] = '\0';
	cr_assert(zr_create(&w, scratch_path(&s, name), ZR_RAGGED, &dtype, NULL,
			    NULL, NULL) == 0);
	cr_expect(zr_publish(w, NULL) == 0);
	cr_assert(zr_create(&w, scratch_path(&s, "t///"), ZR_RAGGED, &dtype,
			    NULL, NULL, NULL) == 0);
	cr_expect(zr_publish(w, NULL) == 0);
	cr_expect(access(scratch_path(&s, "t/meta.zr"), F_OK) == 0);
}

Test(writer, refuses_shapes_that_cannot_be_stored)
{
	struct zr_dtype dtype = make_dtype("<i4");
	struct zr_shape zero = { 2, { 3, 0 } }, wide = { 1, { 1u << 30 } };
	struct zr_shape deep = { 64, { 0 } }, wrap = { 2, { 1ull << 62, 4 } };
	struct zr_shape most = { 63, { 0 } };
	struct zr_writer *w;
	const char *path = scratch_path(&s, "c");

	for (int i = 0; i < 64; i++)
		deep.dims[i] = most.dims[i] = 1;
	cr_expect(zr_create(&w, path, ZR_DENSE, &dtype, &zero, NULL, NULL) ==
		  -EINVAL);
	cr_expect(zr_create(&w, path, ZR_DENSE, &dtype, &wide, NULL, NULL) ==
		  -EINVAL);
	cr_expect(zr_create(&w, path, ZR_DENSE, &dtype, &deep, NULL, NULL) ==
		  -EINVAL);
	cr_expect(zr_create(&w, path, ZR_DENSE, &dtype, &wrap, NULL, NULL) ==
		  -EINVAL);
	cr_expect(zr_create(&w, path, ZR_DENSE, &dtype, NULL, NULL, NULL) ==
		  -EINVAL);
	cr_expect(zr_create(&w, path, ZR_RAGGED, &dtype, &most, NULL, NULL) ==
		  -EINVAL);
	cr_assert(zr_create(&w, path, ZR_DENSE, &dtype, &most, NULL, NULL) ==
		  0);
	zr_discard(w);
}

Test(writer, refuses_levels_and_dictionaries_that_do_not_fit)
{
	struct zr_create_options opt = ZR_CREATE_OPTIONS_INIT;
	struct zr_dtype dtype = make_dtype("<i4");
	const char *path = scratch_path(&s, "c");
	struct zr_writer *w;

	opt.level = 3;
	cr_expect(zr_create(&w, path, ZR_RAGGED, &dtype, NULL, &opt, NULL) ==
			  -EINVAL,
		  "raw has no level");
	opt.codec = ZR_ZSTD;
	opt.level = 23;
	cr_expect(zr_create(&w, path, ZR_RAGGED, &dtype, NULL, &opt, NULL) ==
		  -EINVAL);
	opt.level = 0;
	opt.dict = "x";
	opt.dict_bytes = 1;
	cr_expect(zr_create(&w, path, ZR_RAGGED, &dtype, NULL, &opt, NULL) ==
			  -EINVAL,
		  "zstd takes no dictionary");
	opt.codec = ZR_ZSTD_DICT;
	opt.dict_bytes = 0;
	cr_expect(zr_create(&w, path, ZR_RAGGED, &dtype, NULL, &opt, NULL) ==
			  -EINVAL,
		  "zstd_dict needs one");
	cr_expect(scratch_count(&s) == 0);
}

Test(writer, refuses_ragged_records_that_cannot_be_stored)
{
	struct zr_dtype dtype = make_dtype("<i4");
	uint64_t offsets[3] = { 0, 4, 8 }, dims[2] = { 1, 1 };
	uint64_t dim_offsets[3] = { 0, 1, 2 };
	unsigned char values[16] = { 0 };
	struct zr_ragged b = { 2, values, offsets, dims, dim_offsets,
			       0, 0,      0,       NULL, 0 };
	struct zr_error err;
	struct zr_writer *w;
	struct zr_container *c;

	cr_assert(zr_create(&w, scratch_path(&s, "c"), ZR_RAGGED, &dtype, NULL,
			    NULL, NULL) == 0);
	dims[1] = 2;
	cr_expect(zr_append_ragged(w, &b, &err) == -EINVAL, "bytes, shape");
	cr_expect(err.record == 1);
	dims[1] = 0;
	offsets[2] = 4;
	cr_expect(zr_append_ragged(w, &b, &err) == -EINVAL, "empty");
	offsets[2] = 3;
	cr_expect(zr_append_ragged(w, &b, &err) == -EINVAL, "going down");
	offsets[2] = 8;
	dims[1] = 1;
	dim_offsets[2] = 66;
	cr_expect(zr_append_ragged(w, &b, &err) == -EINVAL, "rank 65");
	dim_offsets[2] = 2;
	cr_expect(zr_append_ragged(w, &b, &err) == 0);
	cr_expect(zr_append_dense(w, values, 1, &err) == -EINVAL);
	cr_assert(zr_publish(w, NULL) == 0);
	cr_assert(zr_open(&c, scratch_path(&s, "c"), NULL, NULL) == 0);
	cr_expect(zr_info(c)->records == 2, "refused batches left nothing");
	zr_close(c);
}

Test(writer, bytes_do_not_depend_on_threads)
{
	static const enum zr_codec codecs[] = { ZR_RAW, ZR_ZSTD, ZR_ZSTD_DICT };
	struct zr_executor *ex;

	cr_assert(zr_executor_new(&ex, 4) == 0);
	for (size_t i = 0; i < 6; i++) {
		const char *one = scratch_path(&s, "one");
		const char *four = scratch_path(&s, "four");
		size_t words = i < 3 ? 64 : 0;
		const char *files[] = { "meta.zr", "data.zr", "check.zr" };

		cr_assert(make_container(one, codecs[i % 3], 20000, words, NULL,
					 NULL) == 0);
		cr_assert(make_container(four, codecs[i % 3], 20000, words, ex,
					 NULL) == 0);
		for (size_t f = 0; f < 3; f++) {
			char *a, *b;
			size_t na = file_bytes(one, files[f], &a);
			size_t nb = file_bytes(four, files[f], &b);

			cr_expect(na == nb && !memcmp(a, b, na), "%zu %s", i,
				  files[f]);
			free(a);
			free(b);
		}
		scratch_remove(&s);
		mkdir(s.dir, 0755);
	}
	zr_executor_free(ex);
}

/* Short records are copied behind their prefixes, long ones are written from
 * where they are; here each sort follows the other, in runs of many lengths. */
static struct zr_ragged long_and_short(size_t count)
{
	struct zr_ragged b = { .count = count };
	uint64_t at = 0, n = 1;

	b.offsets = malloc((count + 1) * 8);
	b.dim_offsets = malloc((count + 1) * 8);
	b.dims = malloc(count * 8);
	for (size_t i = 0; i < count; i++) {
		bool many = i / 16 % 3 != 1;

		n = n * 6364136223846793005u + 1442695040888963407u;
		b.offsets[i] = at;
		b.dim_offsets[i] = i;
		b.dims[i] = 1 + (n >> 33) % (many ? 400000 : 40000);
		at += b.dims[i];
	}
	b.offsets[count] = at;
	b.dim_offsets[count] = count;
	b.values = malloc(at);
	for (uint64_t k = 0; k < at; k++)
		b.values[k] = (unsigned char)(k * 2654435761u >> 24);
	return b;
}

static void expect_records(const char *path, const struct zr_ragged *b)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	unsigned char *got = malloc(400000);
	struct zr_container *c;
	struct zr_reader *r;
	uint64_t bytes;

	opt.flags = ZR_OPEN_CHECK;
	cr_assert(!zr_open(&c, path, &opt, NULL) && !zr_reader_new(&r, c, NULL));
	cr_assert(zr_info(c)->records == b->count);
	for (size_t i = 0; i < b->count; i++) {
		cr_assert(!zr_read(r, i, got, 400000, &bytes, NULL, NULL));
		cr_assert(bytes == b->dims[i] &&
				  !memcmp(got, b->values + b->offsets[i],
					  bytes),
			  "record %zu", i);
	}
	zr_reader_free(r);
	zr_close(c);
	free(got);
}

Test(writer, long_records_among_short_ones)
{
	struct zr_create_options opt = ZR_CREATE_OPTIONS_INIT;
	struct zr_ragged b = long_and_short(400);
	struct zr_dtype dtype = make_dtype("|u1");
	struct zr_writer *w;
	char name[16];

	for (unsigned k = 0; k < 4; k++) {
		snprintf(name, sizeof(name), "c%u", k);
		opt.no_checksums = k == 3;
		cr_assert(!k || !zr_executor_new(&opt.executor, k));
		cr_assert(!zr_create(&w, scratch_path(&s, name), ZR_RAGGED,
				     &dtype, NULL, &opt, NULL));
		cr_assert(!zr_append_ragged(w, &b, NULL));
		cr_assert(!zr_publish(w, NULL));
		expect_records(scratch_path(&s, name), &b);
		zr_executor_free(opt.executor);
	}
	make_batch_free(&b);
}

Test(writer, a_level_is_that_level_of_zstd)
{
	static const int levels[] = { -1, 1, 5, 12, 19 };
	struct zr_create_options opt = ZR_CREATE_OPTIONS_INIT;
	struct zr_dtype dtype = make_dtype("<i4");
	struct zr_shape shape = { 1, { 1000 } };
	unsigned char frame[8192];
	static int32_t items[1000];

	for (size_t j = 0; j < 1000; j++)
		items[j] = make_item(j / 7, j);
	opt.codec = ZR_ZSTD_DICT;
	opt.dict = make_dict(&opt.dict_bytes);
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		ZSTD_CCtx *ctx = ZSTD_createCCtx();
		ZSTD_CDict *dict =
			ZSTD_createCDict(opt.dict, opt.dict_bytes, levels[i]);
		struct zr_writer *w;
		char *stored;
		size_t len, n;

		opt.level = levels[i];
		cr_assert(zr_create(&w, scratch_path(&s, "c"), ZR_DENSE, &dtype,
				    &shape, &opt, NULL) == 0);
		cr_assert(zr_append_dense(w, items, 1, NULL) == 0);
		cr_assert(zr_publish(w, NULL) == 0);
		n = file_bytes(scratch_path(&s, "c"), "data.zr", &stored);
		len = ZSTD_compress_usingCDict(ctx, frame, sizeof(frame), items,
					       sizeof(items), dict);
		cr_expect(len == n && !memcmp(frame, stored, n), "level %d",
			  levels[i]);
		free(stored);
		ZSTD_freeCDict(dict);
		ZSTD_freeCCtx(ctx);
		scratch_remove(&s);
		mkdir(s.dir, 0755);
	}
	free((void *)(uintptr_t)opt.dict);
}

Test(writer, training_gives_the_same_dictionary_again)
{
	static unsigned char samples[200 * 400], one[4096], two[4096];
	size_t sizes[200], n, m;

	for (size_t i = 0; i < sizeof(samples); i++)
		samples[i] = (unsigned char)((i % 61) * (i / 977 % 13));
	for (size_t i = 0; i < 200; i++)
		sizes[i] = 400;
	cr_assert(zr_train(one, sizeof(one), &n, samples, sizes, 200, NULL) ==
		  0);
	cr_assert(zr_train(two, sizeof(two), &m, samples, sizes, 200, NULL) ==
		  0);
	cr_expect(n == m && !memcmp(one, two, n));
	cr_expect(n > 256 && n <= sizeof(one));
}

Test(writer, training_on_too_little_is_refused)
{
	static unsigned char zeros[10 * 300], dict[1000];
	size_t sizes[10], n = 1;

	for (size_t i = 0; i < 10; i++)
		sizes[i] = 25;
	cr_expect(zr_train(dict, sizeof(dict), &n, zeros, sizes, 10, NULL) ==
			  -EINVAL,
		  "250 bytes");
	cr_expect(n == 0);
	cr_expect(zr_train(dict, sizeof(dict), &n, zeros, sizes, 0, NULL) ==
			  -EINVAL,
		  "no samples");
	for (size_t i = 0; i < 10; i++)
		sizes[i] = 300;
	cr_expect(zr_train(dict, sizeof(dict), &n, zeros, sizes, 2, NULL) ==
			  -EINVAL,
		  "too few samples");
	cr_expect(zr_train(dict, 100, &n, zeros, sizes, 10, NULL) == -EINVAL,
		  "no room");
	/* All alike: refused or not, but nothing breaks. */
	if (!zr_train(dict, sizeof(dict), &n, zeros, sizes, 10, NULL))
		cr_expect(n <= sizeof(dict));
}

Test(writer, an_error_of_writing_is_kept_and_nothing_appears)
{
	struct rlimit limit = { 100000, 100000 };
	struct zr_dtype dtype = make_dtype("<i4");
	struct zr_shape shape = { 1, { 1000 } };
	static int32_t items[50000];
	const char *path = scratch_path(&s, "c");
	struct zr_error err;
	struct zr_writer *w;

	cr_assert(zr_create(&w, path, ZR_DENSE, &dtype, &shape, NULL, NULL) ==
		  0);
	signal(SIGXFSZ, SIG_IGN);
	cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	cr_expect(zr_append_dense(w, items, 10, &err) == 0);
	cr_expect(zr_append_dense(w, items, 50, &err) == -EFBIG);
	cr_expect(zr_append_dense(w, items, 1, &err) == -EFBIG, "kept");
	cr_expect(err.code == -EFBIG);
	cr_expect(zr_publish(w, &err) == -EFBIG);
	cr_expect(scratch_count(&s) == 0);
}

Test(writer, refuses_what_no_reader_knows)
{
	struct zr_create_options opt = ZR_CREATE_OPTIONS_INIT;
	struct zr_dtype dtype = make_dtype("<i4");
	struct zr_shape shape = { 0 };
	const char *path = scratch_path(&s, "c");
	struct zr_writer *w;

	opt.codec = (enum zr_codec)7;
	cr_expect(zr_create(&w, path, ZR_RAGGED, &dtype, NULL, &opt, NULL) ==
		  -EINVAL);
	opt.codec = ZR_RAW;
	cr_expect(zr_create(&w, path, (enum zr_kind)5, &dtype, NULL, &opt,
			    NULL) == -EINVAL);
	cr_expect(zr_create(&w, path, (enum zr_kind)5, &dtype, &shape, &opt,
			    NULL) == -EINVAL);
	cr_expect(zr_create(&w, NULL, ZR_RAGGED, &dtype, NULL, &opt, NULL) ==
		  -EINVAL);
	opt.size = 0;
	cr_expect(zr_create(&w, path, ZR_RAGGED, &dtype, NULL, &opt, NULL) ==
		  -EINVAL);
	cr_expect(scratch_count(&s) == 0);
}

Test(writer, a_child_does_not_keep_what_was_published_busy)
{
	struct zr_dtype dtype = make_dtype("<i4");
	const char *path = scratch_path(&s, "c");
	struct zr_container *c;
	struct zr_writer *w;
	int pipes[2];
	pid_t pid;
	char byte;

	cr_assert(zr_create(&w, path, ZR_RAGGED, &dtype, NULL, NULL, NULL) ==
		  0);
	cr_assert(pipe(pipes) == 0);
	pid = fork();
	if (pid == 0) {
		close(pipes[1]);
		_exit(read(pipes[0], &byte, 1) < 0);
	}
	cr_assert(zr_publish(w, NULL) == 0);
	cr_expect(zr_open(&c, path, NULL, NULL) == 0);
	zr_close(c);
	close(pipes[1]);
	waitpid(pid, NULL, 0);
}

Test(writer, belongs_to_the_process_that_made_it)
{
	struct zr_dtype dtype = make_dtype("<i4");
	struct zr_shape shape = { 0 };
	const char *path = scratch_path(&s, "c");
	struct zr_writer *w;
	int32_t v = 5;
	int status;
	pid_t pid;

	cr_assert(zr_create(&w, path, ZR_DENSE, &dtype, &shape, NULL, NULL) ==
		  0);
	pid = fork();
	if (pid == 0) {
		int ok = zr_append_dense(w, &v, 1, NULL) == -EINVAL;

		zr_discard(w);
		_exit(ok ? 0 : 1);
	}
	cr_assert(waitpid(pid, &status, 0) == pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	cr_expect(zr_append_dense(w, &v, 1, NULL) == 0);
	cr_expect(zr_publish(w, NULL) == 0);
	cr_expect(access(path, F_OK) == 0);
}

Test(writer, a_build_is_busy_for_readers)
{
	struct zr_dtype dtype = make_dtype("<i4");
	struct zr_container *c;
	struct zr_writer *w;
	char cmd[1300], line[600] = "";
	FILE *p;

	cr_assert(zr_create(&w, scratch_path(&s, "c"), ZR_RAGGED, &dtype, NULL,
			    NULL, NULL) == 0);
	snprintf(cmd, sizeof(cmd), "ls -d %s/.c.*.zrtmp", s.dir);
	p = popen(cmd, "r");
	cr_assert(fgets(line, sizeof(line), p) != NULL);
	pclose(p);
	line[strcspn(line, "\n")] = '\0';
	cr_expect(zr_open(&c, line, NULL, NULL) == -EBUSY);
	cr_expect(c == NULL);
	zr_discard(w);
}
