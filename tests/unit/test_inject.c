/* SPDX-License-Identifier: BSD-2-Clause
 * Every call into the system that opening, gathering and building make fails
 * once, the first, the second, ...: an error of zrecord.h, nothing lost.
 *
 * What is replaced are the calls of the archive. Those that libzstd and
 * msgpack-c make inside their shared objects are not, nor those of libc. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "make.h"
#include "scratch.h"

/* ---- Calls that can be made to fail ------------------------------------ */

enum call {
	MEMORY,
	READ,
	WRITE,
	SYNC,
	RENAME,
	OPEN,
	MAP,
	THREAD,
	RESIZE,
	MKDIR,
	STAT,
	HINT, /* what may be refused without harm */
	NOTHING
};

#define ENDS 0   /* the call moves no byte */
#define SHORT -1 /* the call moves one byte */

/* The fault that is armed; `left` calls until it strikes. */
static struct {
	_Atomic int call; /* enum call */
	int how;          /* an errno, ENDS or SHORT */
	atomic_long left;
} armed = { .call = NOTHING };
static atomic_long blocks, mappings; /* that the archive holds */

static bool strikes(enum call call)
{
	if (atomic_load(&armed.call) != (int)call ||
	    atomic_fetch_sub(&armed.left, 1) != 1)
		return false;
	if (armed.how > 0)
		errno = armed.how;
	return true;
}

/* What a read or write returns in place of `real`, told by how many bytes it
 * may move: all, one or none. */
static size_t allowed(enum call call, size_t len, bool *fails)
{
	*fails = strikes(call);
	if (!*fails)
		return len;
	if (armed.how == SHORT) {
		*fails = false;
		return len < 1 ? len : 1;
	}
	return 0;
}

static void *kept(void *p)
{
	if (p)
		atomic_fetch_add(&blocks, 1);
	return p;
}

/* The build finds the names by their prefix. */
#define WRAP(type, real, name, args)                                           \
	type real args;                                                        \
	type name args;                                                        \
	type name args

WRAP(void *, __real_malloc, __wrap_malloc, (size_t size))
{
	return strikes(MEMORY) ? NULL : kept(__real_malloc(size));
}

WRAP(void *, __real_calloc, __wrap_calloc, (size_t n, size_t size))
{
	return strikes(MEMORY) ? NULL : kept(__real_calloc(n, size));
}

WRAP(void *, __real_aligned_alloc, __wrap_aligned_alloc,
     (size_t align, size_t size))
{
	return strikes(MEMORY) ? NULL : kept(__real_aligned_alloc(align, size));
}

WRAP(void *, __real_realloc, __wrap_realloc, (void *p, size_t size))
{
	void *q = strikes(MEMORY) ? NULL : __real_realloc(p, size);

	return p ? q : kept(q);
}

WRAP(void, __real_free, __wrap_free, (void *p))
{
	if (p)
		atomic_fetch_sub(&blocks, 1);
	__real_free(p);
}

WRAP(char *, __real_strdup, __wrap_strdup, (const char *text))
{
	return strikes(MEMORY) ? NULL : kept(__real_strdup(text));
}

WRAP(char *, __real_strndup, __wrap_strndup, (const char *text, size_t n))
{
	return strikes(MEMORY) ? NULL : kept(__real_strndup(text, n));
}

WRAP(int, __real_asprintf, __wrap_asprintf, (char **out, const char *fmt, ...))
{
	va_list ap;
	int n;

	if (strikes(MEMORY))
		return -1;
	va_start(ap, fmt);
	n = vasprintf(out, fmt, ap);
	va_end(ap);
	if (n >= 0)
		kept(*out);
	return n;
}

WRAP(ssize_t, __real_pread, __wrap_pread,
     (int fd, void *buf, size_t len, off_t off))
{
	bool fails;

	len = allowed(READ, len, &fails);
	if (fails)
		return armed.how == ENDS ? 0 : -1;
	return __real_pread(fd, buf, len, off);
}

WRAP(ssize_t, __real_pwrite, __wrap_pwrite,
     (int fd, const void *buf, size_t len, off_t off))
{
	bool fails;

	len = allowed(WRITE, len, &fails);
	if (fails)
		return armed.how == ENDS ? 0 : -1;
	return __real_pwrite(fd, buf, len, off);
}

WRAP(ssize_t, __real_pwritev, __wrap_pwritev,
     (int fd, const struct iovec *iov, int count, off_t off))
{
	bool fails;
	size_t len = allowed(WRITE, SIZE_MAX, &fails);

	if (fails)
		return armed.how == ENDS ? 0 : -1;
	if (len == 1)
		return __real_pwrite(fd, iov->iov_base, 1, off);
	return __real_pwritev(fd, iov, count, off);
}

/* Nothing is synced here: that would take most of the time. */
WRAP(int, __real_fsync, __wrap_fsync, (int fd))
{
	(void)fd;
	return strikes(SYNC) ? -1 : 0;
}

WRAP(int, __real_renameat2, __wrap_renameat2,
     (int from_dir, const char *from, int to_dir, const char *to,
      unsigned flags))
{
	if (strikes(RENAME))
		return -1;
	return __real_renameat2(from_dir, from, to_dir, to, flags);
}

WRAP(int, __real_openat, __wrap_openat,
     (int dir, const char *name, int flags, ...))
{
	mode_t mode = 0;
	va_list ap;

	if (strikes(OPEN))
		return -1;
	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return __real_openat(dir, name, flags, mode);
}

WRAP(int, __real_open, __wrap_open, (const char *name, int flags, ...))
{
	return strikes(OPEN) ? -1 : __real_open(name, flags);
}

WRAP(void *, __real_mmap, __wrap_mmap,
     (void *at, size_t len, int prot, int flags, int fd, off_t off))
{
	void *p = strikes(MAP) ? MAP_FAILED
			       : __real_mmap(at, len, prot, flags, fd, off);

	if (p != MAP_FAILED)
		atomic_fetch_add(&mappings, 1);
	return p;
}

WRAP(int, __real_munmap, __wrap_munmap, (void *p, size_t len))
{
	atomic_fetch_sub(&mappings, 1);
	return __real_munmap(p, len);
}

WRAP(int, __real_pthread_create, __wrap_pthread_create,
     (pthread_t * out, const pthread_attr_t *attr, void *(*fn)(void *),
      void *arg))
{
	if (strikes(THREAD))
		return armed.how;
	return __real_pthread_create(out, attr, fn, arg);
}

WRAP(int, __real_ftruncate, __wrap_ftruncate, (int fd, off_t len))
{
	return strikes(RESIZE) ? -1 : __real_ftruncate(fd, len);
}

WRAP(int, __real_mkdirat, __wrap_mkdirat,
     (int dir, const char *name, mode_t mode))
{
	return strikes(MKDIR) ? -1 : __real_mkdirat(dir, name, mode);
}

WRAP(int, __real_fstat, __wrap_fstat, (int fd, struct stat *st))
{
	return strikes(STAT) ? -1 : __real_fstat(fd, st);
}

WRAP(int, __real_fstatat, __wrap_fstatat,
     (int dir, const char *name, struct stat *st, int flags))
{
	return strikes(STAT) ? -1 : __real_fstatat(dir, name, st, flags);
}

WRAP(int, __real_madvise, __wrap_madvise, (void *p, size_t len, int advice))
{
	return strikes(HINT) ? -1 : __real_madvise(p, len, advice);
}

WRAP(int, __real_mprotect, __wrap_mprotect, (void *p, size_t len, int prot))
{
	return strikes(HINT) ? -1 : __real_mprotect(p, len, prot);
}

WRAP(int, __real_flock, __wrap_flock, (int fd, int how))
{
	return strikes(HINT) ? -1 : __real_flock(fd, how);
}

/* ---- Faults ------------------------------------------------------------- */

struct fault {
	const char *name;
	enum call call;
	int how;
	enum { FAILS, MAY_FAIL, WORKS } then;
	int rc; /* of the function of the library, if it fails */
};

static const struct fault read_faults[] = {
	{ "no memory", MEMORY, ENOMEM, MAY_FAIL, -ENOMEM },
	{ "pread EIO", READ, EIO, MAY_FAIL, -EIO },
	{ "pread at end", READ, ENDS, MAY_FAIL, -EIO },
	{ "pread EINTR", READ, EINTR, WORKS, 0 },
	{ "pread short", READ, SHORT, WORKS, 0 },
	{ "open EMFILE", OPEN, EMFILE, FAILS, -EMFILE },
	{ "mmap ENOMEM", MAP, ENOMEM, FAILS, -ENOMEM },
	{ "stat EIO", STAT, EIO, MAY_FAIL, -EIO },
	{ "no thread", THREAD, EAGAIN, WORKS, 0 },
	{ "hint refused", HINT, ENOLCK, WORKS, 0 },
};

static const struct fault write_faults[] = {
	{ "no memory", MEMORY, ENOMEM, MAY_FAIL, -ENOMEM },
	{ "write ENOSPC", WRITE, ENOSPC, FAILS, -ENOSPC },
	{ "write EDQUOT", WRITE, EDQUOT, FAILS, -EDQUOT },
	{ "write of nothing", WRITE, ENDS, FAILS, -EIO },
	{ "write EINTR", WRITE, EINTR, WORKS, 0 },
	{ "write short", WRITE, SHORT, WORKS, 0 },
	{ "fsync EIO", SYNC, EIO, FAILS, -EIO },
	{ "rename EIO", RENAME, EIO, FAILS, -EIO },
	{ "rename EEXIST", RENAME, EEXIST, FAILS, -EEXIST },
	{ "no RENAME_NOREPLACE", RENAME, EINVAL, WORKS, 0 },
	{ "open EMFILE", OPEN, EMFILE, FAILS, -EMFILE },
	{ "mkdir ENOSPC", MKDIR, ENOSPC, FAILS, -ENOSPC },
	{ "ftruncate EIO", RESIZE, EIO, FAILS, -EIO },
	{ "stat EIO", STAT, EIO, FAILS, -EIO },
	{ "pread EIO", READ, EIO, FAILS, -EIO },
	{ "pread at end", READ, ENDS, FAILS, -EIO },
	{ "pread EINTR", READ, EINTR, WORKS, 0 },
	{ "pread short", READ, SHORT, WORKS, 0 },
	{ "no thread", THREAD, EAGAIN, WORKS, 0 },
	{ "hint refused", HINT, ENOLCK, WORKS, 0 },
};

/* Where we are, for messages. */
static struct {
	const struct fault *fault;
	long n;
	const char *what;
} here;

#define check(cond)                                                            \
	cr_assert(cond, "%s, call %ld, %s: %s", here.fault->name, here.n,      \
		  here.what, #cond)

#define expect(cond)                                                           \
	cr_expect(cond, "%s, call %ld, %s: %s", here.fault->name, here.n,      \
		  here.what, #cond)

static void arm(const struct fault *f, long n)
{
	armed.how = f->how;
	atomic_store(&armed.left, n);
	atomic_store(&armed.call, (int)f->call);
}

/* Returns whether the fault struck. */
static bool disarm(void)
{
	atomic_store(&armed.call, NOTHING);
	return atomic_load(&armed.left) <= 0;
}

/* ---- Data ---------------------------------------------------------------- */

#define RECORDS 40u /* some 330 KB: enough for threads to be asked */
#define WORDS 2048u
#define LONG 7u /* its shape is read without decoding all of it, if Ragged */
#define ROOM (40000u * 4)

enum shape { DENSE, EVEN, MIXED }; /* the latter two Ragged, by ranks */

/* Items of record i, in `rows` rows. */
static uint64_t big_shape(enum shape shape, uint64_t i, uint64_t dims[2],
			  uint32_t *rank)
{
	*rank = 1;
	dims[0] = shape == DENSE ? WORDS : 1700 + i;
	if (shape == DENSE || (shape == MIXED && i % 2 && i != LONG))
		return dims[0];
	*rank = 2;
	dims[0] = i == LONG ? 40 : 1 + i % 3;
	dims[1] = 1000;
	return dims[0] * dims[1];
}

/* Records ids[0..count), or from `first` on; free with make_batch_free. */
static struct zr_ragged big_batch(enum shape shape, const uint64_t *ids,
				  uint64_t first, size_t count)
{
	struct zr_ragged b = { .count = count };
	uint64_t at = 0, dim = 0;

	b.values = malloc(count * 3000 * 4 + ROOM);
	b.offsets = malloc((count + 1) * 8);
	b.dims = malloc(count * 2 * 8);
	b.dim_offsets = malloc((count + 1) * 8);
	for (size_t k = 0; k < count; k++) {
		uint64_t i = ids ? ids[k] : first + k, n;
		uint32_t rank;

		b.offsets[k] = at;
		b.dim_offsets[k] = dim;
		n = big_shape(shape, i, b.dims + dim, &rank);
		dim += rank;
		for (uint64_t j = 0; j < n; j++, at += 4) {
			int32_t v = make_item(i, j);

			memcpy(b.values + at, &v, 4);
		}
	}
	b.offsets[count] = at;
	b.dim_offsets[count] = dim;
	return b;
}

static struct scratch s;
static uint64_t ids[RECORDS];    /* some order */
static struct zr_ragged half[2]; /* what is appended */
static struct zr_ragged wanted;  /* records ids[] */
static struct zr_ragged one;     /* record LONG */
static void *dict;
static size_t dict_bytes;

/* What is done. */
struct job {
	enum shape shape;
	enum zr_codec codec;
	enum zr_placement placement;
	uint32_t flags;    /* of zr_open */
	bool no_checksums; /* of zr_create */
	const char *path;
};

static void prepare(enum shape shape)
{
	for (size_t i = 0; i < RECORDS; i++)
		ids[i] = (i * 7 + 3) % RECORDS;
	half[0] = big_batch(shape, NULL, 0, RECORDS / 2);
	half[1] = big_batch(shape, NULL, RECORDS / 2, RECORDS / 2);
	wanted = big_batch(shape, ids, 0, RECORDS);
	one = big_batch(shape, NULL, LONG, 1);
	dict = make_dict(&dict_bytes);
}

static void setup(void)
{
	scratch_make(&s);
}

static void teardown(void)
{
	make_batch_free(&half[0]);
	make_batch_free(&half[1]);
	make_batch_free(&wanted);
	make_batch_free(&one);
	free(dict);
	scratch_remove(&s);
}

TestSuite(inject, .init = setup, .fini = teardown, .timeout = 100);

/* ---- What must hold ----------------------------------------------------- */

static bool in_closed_set(int rc)
{
	static const int set[] = {
		EUCLEAN, EBADMSG,      ENODATA, EBUSY,   ERANGE, EINVAL,
		ENOTSUP, EEXIST,       ENOMEM,  EIO,     ENOSPC, EDQUOT,
		EFBIG,   EROFS,        ENOENT,  ENOTDIR, EACCES, EPERM,
		ELOOP,   ENAMETOOLONG, EMFILE,  ENFILE,
	};

	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++)
		if (rc == -set[i])
			return true;
	return false;
}

/* A call of the library returned `rc`: the one error that fits the fault, and
 * told in `err` (NULL: not told). Keeps the first one. */
static void judge(const char *what, int rc, const struct zr_error *err,
		  int *first)
{
	here.what = what;
	if (!rc)
		return;
	check(here.fault->then != WORKS);
	check(in_closed_set(rc));
	/* Not the end of the test: what follows may show more. */
	cr_expect(rc == here.fault->rc, "%s, call %ld, %s: %s",
		  here.fault->name, here.n, what,
		  err ? err->message : zr_strerror(rc));
	check(!err || err->code == rc);
	check(!err || (err->message[0] && !strchr(err->message, '\n')));
	if (!*first)
		*first = rc;
}

static int open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

struct held {
	long blocks, mappings;
	int fds;
};

static struct held held_now(void)
{
	return (struct held){ atomic_load(&blocks), atomic_load(&mappings),
			      open_fds() };
}

static void nothing_leaked(const struct held *before)
{
	struct held now = held_now();

	here.what = "at the end";
	check(now.blocks == before->blocks);
	check(now.mappings == before->mappings);
	check(now.fds == before->fds);
}

/* ---- Reading --------------------------------------------------------------
 */

static int gather(const struct job *j, struct zr_reader *r,
		  struct zr_error *err)
{
	struct zr_ragged got = { 0 };
	int rc;

	if (j->shape == DENSE) {
		static unsigned char buf[RECORDS * WORDS * 4];

		memset(buf, 0xaa, sizeof(buf));
		rc = zr_gather_dense(r, ids, RECORDS, buf, sizeof(buf), err);
		check(rc || !memcmp(buf, wanted.values, sizeof(buf)));
		return rc;
	}
	rc = zr_gather_ragged(r, ids, RECORDS, &got, err);
	check(got.count == (rc ? 0 : RECORDS));
	if (!rc) {
		uint64_t dims = wanted.dim_offsets[RECORDS];

		check(!memcmp(got.offsets, wanted.offsets, 8 * (RECORDS + 1)));
		check(!memcmp(got.dim_offsets, wanted.dim_offsets,
			      8 * (RECORDS + 1)));
		check(!memcmp(got.dims, wanted.dims, 8 * dims));
		check(!memcmp(got.values, wanted.values,
			      wanted.offsets[RECORDS]));
	}
	zr_ragged_free(&got);
	return rc;
}

static int shape(const struct job *j, struct zr_reader *r, struct zr_error *err)
{
	struct zr_shape found;
	uint64_t bytes;
	int rc = zr_record_shape(r, LONG, &found, &bytes, err);

	(void)j;
	check(rc || bytes == one.offsets[1]);
	check(rc || found.dims[0] == one.dims[0]);
	return rc;
}

static int read_one(const struct job *j, struct zr_reader *r,
		    struct zr_error *err)
{
	static unsigned char buf[ROOM];
	uint64_t bytes;
	int rc = zr_read(r, LONG, buf, sizeof(buf), &bytes, NULL, err);

	(void)j;
	check(rc || bytes == one.offsets[1]);
	check(rc || !memcmp(buf, one.values, bytes));
	return rc;
}

static int read_part(const struct job *j, struct zr_reader *r,
		     struct zr_error *err)
{
	unsigned char buf[1000];
	int rc = zr_read_part(r, LONG, 333, buf, sizeof(buf), err);

	(void)j;
	check(rc || !memcmp(buf, one.values + 333, sizeof(buf)));
	return rc;
}

static int check_one(const struct job *j, struct zr_reader *r,
		     struct zr_error *err)
{
	(void)j;
	return zr_check(r, 9, err);
}

/* Every step that fails is done again, which must work, as a fault strikes
 * once: so a failure leaves nothing bad in a reader. */
static int read_all(const struct job *j, struct zr_reader *r)
{
	static const struct {
		const char *name;
		int (*fn)(const struct job *, struct zr_reader *,
			  struct zr_error *);
	} steps[] = {
		{ "record_shape", shape },  { "read_part", read_part },
		{ "gather", gather },       { "read", read_one },
		{ "gather again", gather }, { "check", check_one },
	};
	struct zr_error err = { 0 };
	int first = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int rc = steps[i].fn(j, r, &err);

		judge(steps[i].name, rc, &err, &first);
		if (rc)
			check(steps[i].fn(j, r, &err) == 0);
	}
	return first;
}

/* Returns the first error. */
static int read_job(const struct job *j)
{
	struct zr_open_options opt = { sizeof(opt), j->flags, j->placement };
	struct zr_executor *ex = NULL;
	struct zr_container *c = NULL;
	struct zr_reader *r = NULL;
	struct zr_error err = { 0 };
	int first = 0, rc;

	judge("executor_new", rc = zr_executor_new(&ex, 3), NULL, &first);
	check(!rc == !!ex);
	judge("open", rc = zr_open(&c, j->path, &opt, &err), &err, &first);
	check(!rc == !!c);
	if (rc)
		check(zr_open(&c, j->path, &opt, &err) == 0);
	judge("reader_new", rc = zr_reader_new(&r, c, ex), NULL, &first);
	check(!rc == !!r);
	if (rc)
		check(zr_reader_new(&r, c, ex) == 0);
	rc = read_all(j, r);
	zr_reader_free(r);
	zr_close(c);
	zr_executor_free(ex);
	return first ? first : rc;
}

static void read_under(const struct job *j, const struct fault *f)
{
	bool struck = true;

	here.fault = f;
	for (here.n = 1; struck; here.n++) {
		struct held before = held_now();
		int rc;

		arm(f, here.n);
		rc = read_job(j);
		struck = disarm();
		nothing_leaked(&before);
		expect(!struck || rc || f->then != FAILS);
		/* The next run begins as well as this one would. */
		if (here.n % 4 == 1)
			check(read_job(j) == 0);
	}
	/* What is never called would show nothing. */
	check(here.n > 2 || f->call != MEMORY);
}

/* ---- Building ------------------------------------------------------------ */

struct outcome {
	int rc;      /* the first error, 0: none */
	int stuck;   /* an error of writing, which stays */
	bool has[2]; /* which half is appended */
	bool published;
};

static int append(const struct job *j, struct zr_writer *w, int which,
		  struct outcome *o, struct zr_error *err)
{
	int rc = j->shape == DENSE ? zr_append_dense(w, half[which].values,
						     RECORDS / 2, err)
				   : zr_append_ragged(w, &half[which], err);

	o->has[which] = !rc;
	return rc;
}

/* Without memory an append can be tried again, or left; any other error stays
 * with the writer. */
static void append_half(const struct job *j, struct zr_writer *w, int which,
			struct outcome *o)
{
	struct zr_error err = { 0 };
	int stuck = o->stuck, rc = append(j, w, which, o, &err);

	judge("append", rc, &err, &o->rc);
	check(!stuck || rc == stuck);
	if (rc == -ENOMEM && here.n % 2)
		check(append(j, w, which, o, &err) == 0);
	else if (rc && rc != -ENOMEM)
		o->stuck = rc;
}

static int create(const struct job *j, struct zr_writer **w,
		  struct zr_executor *ex, struct zr_error *err)
{
	struct zr_create_options opt = ZR_CREATE_OPTIONS_INIT;
	struct zr_shape shape = { 1, { WORDS } };
	struct zr_dtype dtype = { .str = "<i4" };

	opt.codec = j->codec;
	opt.executor = ex;
	opt.no_checksums = j->no_checksums;
	if (j->codec == ZR_ZSTD_DICT) {
		opt.dict = dict;
		opt.dict_bytes = dict_bytes;
	}
	return zr_create(w, j->path, j->shape == DENSE ? ZR_DENSE : ZR_RAGGED,
			 &dtype, j->shape == DENSE ? &shape : NULL, &opt, err);
}

static struct outcome write_job(const struct job *j)
{
	struct outcome o = { 0 };
	struct zr_executor *ex = NULL;
	struct zr_writer *w = NULL;
	struct zr_error err = { 0 };
	int rc;

	judge("executor_new", zr_executor_new(&ex, 3), NULL, &o.rc);
	judge("create", rc = create(j, &w, ex, &err), &err, &o.rc);
	check(!rc == !!w);
	if (rc) {
		check(scratch_count(&s) == 0);
		check(create(j, &w, ex, &err) == 0);
	}
	append_half(j, w, 0, &o);
	append_half(j, w, 1, &o);
	judge("publish", rc = zr_publish(w, &err), &err, &o.rc);
	check(!o.stuck || rc == o.stuck);
	o.published = !rc;
	zr_executor_free(ex);
	return o;
}

/* The container holds the halves that were appended, in order. */
static void look_at_records(const struct outcome *o, struct zr_container *c)
{
	static unsigned char buf[ROOM];
	struct zr_reader *r;
	uint64_t id = 0, bytes;

	check(zr_reader_new(&r, c, NULL) == 0);
	for (int which = 0; which < 2; which++) {
		const struct zr_ragged *b = &half[which];

		for (size_t k = 0; o->has[which] && k < b->count; k++, id++) {
			check(zr_read(r, id, buf, sizeof(buf), &bytes, NULL,
				      NULL) == 0);
			check(bytes == b->offsets[k + 1] - b->offsets[k]);
			check(!memcmp(buf, b->values + b->offsets[k], bytes));
		}
	}
	check(zr_info(c)->records == id);
	zr_reader_free(r);
}

/* A container with all that was acknowledged and nothing beside it, or
 * nothing at all. */
static void look_at_result(const struct job *j, const struct outcome *o)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	struct zr_container *c;

	here.what = "the result";
	check(scratch_count(&s) == (o->published ? 1 : 0));
	if (!o->published)
		return;
	opt.flags = j->no_checksums ? 0 : ZR_OPEN_CHECK;
	check(zr_open(&c, j->path, &opt, NULL) == 0);
	check(zr_info(c)->checksums == !j->no_checksums);
	look_at_records(o, c);
	zr_close(c);
	scratch_remove(&s);
	check(mkdir(s.dir, 0777) == 0);
}

static void write_under(const struct job *j, const struct fault *f)
{
	bool struck = true;

	here.fault = f;
	for (here.n = 1; struck; here.n++) {
		struct held before = held_now();
		struct outcome o, good;

		arm(f, here.n);
		o = write_job(j);
		struck = disarm();
		nothing_leaked(&before);
		expect(!struck || o.rc || f->then != FAILS);
		look_at_result(j, &o);
		good = write_job(j);
		check(good.published && good.has[0] && good.has[1]);
		look_at_result(j, &good);
	}
	/* What is never called would show nothing. */
	check(here.n > 2 || f->call != MEMORY);
}

/* ---- Tests ----------------------------------------------------------------
 */

static void reads(enum shape shape, enum zr_codec codec)
{
	static const struct {
		enum zr_placement placement;
		uint32_t flags;
	} ways[] = {
		{ ZR_PLACE_MAP, 0 },
		{ ZR_PLACE_READ, ZR_OPEN_CHECK },
		{ ZR_PLACE_RESIDENT, ZR_OPEN_NO_CHECKSUMS },
	};
	struct job j = { shape, codec, ZR_PLACE_AUTO, 0, false, NULL };
	struct outcome made;

	here.fault = &read_faults[0];
	prepare(shape);
	j.path = scratch_path(&s, "c.zr");
	made = write_job(&j);
	check(made.published);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		j.placement = ways[i].placement;
		j.flags = ways[i].flags;
		for (size_t k = 0;
		     k < sizeof(read_faults) / sizeof(read_faults[0]); k++)
			read_under(&j, &read_faults[k]);
	}
}

static void writes(enum shape shape, enum zr_codec codec, bool no_checksums)
{
	struct job j = { shape, codec, ZR_PLACE_AUTO, 0, no_checksums, NULL };

	prepare(shape);
	j.path = scratch_path(&s, "c.zr");
	for (size_t k = 0; k < sizeof(write_faults) / sizeof(write_faults[0]);
	     k++)
		write_under(&j, &write_faults[k]);
}

#define READS(name, shape, codec)                                              \
	Test(inject, reads_##name)                                             \
	{                                                                      \
		reads(shape, codec);                                           \
	}
#define WRITES(name, shape, codec, no_checksums)                               \
	Test(inject, writes_##name)                                            \
	{                                                                      \
		writes(shape, codec, no_checksums);                            \
	}

READS(dense_raw, DENSE, ZR_RAW)
READS(dense_zstd, DENSE, ZR_ZSTD)
READS(dense_dict, DENSE, ZR_ZSTD_DICT)
READS(ragged_raw, EVEN, ZR_RAW)
READS(ragged_zstd, EVEN, ZR_ZSTD)
READS(ragged_dict, EVEN, ZR_ZSTD_DICT)
READS(mixed_raw, MIXED, ZR_RAW)
READS(mixed_zstd, MIXED, ZR_ZSTD)
WRITES(dense_raw, DENSE, ZR_RAW, false)
WRITES(dense_zstd, DENSE, ZR_ZSTD, true)
WRITES(dense_dict, DENSE, ZR_ZSTD_DICT, false)
WRITES(ragged_raw, MIXED, ZR_RAW, false)
WRITES(ragged_zstd, MIXED, ZR_ZSTD, false)
WRITES(ragged_dict, EVEN, ZR_ZSTD_DICT, true)
