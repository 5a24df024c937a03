/* SPDX-License-Identifier: BSD-2-Clause
 *
 * libzrecord: read and write Zrecord containers.
 *
 * A container is a directory that holds an ordered, typed sequence of
 * records. Record i is an array. In a Dense container all records have one
 * shape; in a Ragged container each record has its own. Containers are built
 * once and never changed: a reader sees all of a container or none of it.
 * The bytes are described in docs/FORMAT.md ("F" and a number below).
 *
 *     zr_open ──> struct zr_container ──> zr_close       immutable, shared
 *                    │ zr_reader_new
 *                    └─> struct zr_reader ──> zr_reader_free    per thread
 *                          zr_read, zr_gather_dense, zr_gather_ragged, ...
 *
 *     zr_create ──> struct zr_writer ──> zr_publish | zr_discard
 *                     zr_append_dense, zr_append_ragged
 *
 * A first program (Dense; error handling left out):
 *
 *     struct zr_container *c;
 *     struct zr_reader *r;
 *     uint64_t ids[3] = { 7, 0, 7 };
 *
 *     zr_open(&c, "train.zr", NULL, NULL);
 *     zr_reader_new(&r, c, NULL);
 *     void *batch = malloc(3 * zr_info(c)->record_bytes);
 *     zr_gather_dense(r, ids, 3, batch, 3 * zr_info(c)->record_bytes, NULL);
 *
 * Sizes. `bytes` are bytes, `count` and `records` are records. All integers
 * of a container are little-endian and at most 2^63 - 1; no function trusts
 * them: each is checked against the bytes that are there before it is used,
 * and no more memory is asked for than those bytes can fill.
 *
 * Threads. A container, and everything it returns, may be used by any number
 * of threads at once. A reader or a writer is used by one thread at a time,
 * unless the function says otherwise. An executor may be shared by all.
 *
 * Fork. Containers and readers work in a child, on one thread: the threads of
 * an executor do not survive fork and are not asked there. A writer belongs
 * to the process that made it: in a child each call returns -EINVAL, and
 * zr_discard frees memory only.
 *
 * Errors. A function returns 0 or one of the negative numbers below; errno
 * means nothing after a call. If it takes a `struct zr_error *`
 * that is not NULL, the details are stored there; the struct is the caller's,
 * and is left alone on success. Nothing is printed. One signal handler may be
 * installed, for containers whose data is mapped: see ZR_PLACE_MAP. On failure
 * an out parameter that is a handle is NULL.
 *
 *     -EUCLEAN    the container breaks a rule of the format (F7)
 *     -EBADMSG    this record breaks a rule of the format or does not decode
 *     -ENODATA    the container was never published: its writer died
 *     -EBUSY      a writer holds the container right now
 *     -ERANGE     there is no such record, or the text does not fit
 *     -EINVAL     the caller broke the contract of the function
 *     -ENOTSUP    a dtype, codec, file or container is well-formed but not
 *                 supported
 *     -EEXIST     the path to create exists
 *     -ENOMEM     no memory
 *     -EIO        a read or write failed, or a file became shorter
 *     -ENOSPC -EDQUOT -EFBIG -EROFS    writing: no room, or no writing here;
 *                                      -EFBIG by a limit of the process comes
 *                                      where SIGXFSZ is ignored, which else
 *                                      ends it
 *     -ENOENT -ENOTDIR -EACCES -EPERM -ELOOP -ENAMETOOLONG -EMFILE -ENFILE
 *                 opening: as open(2) says
 */
#ifndef ZRECORD_H
#define ZRECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZR_VERSION_MAJOR 0
#define ZR_VERSION_MINOR 1
#define ZR_VERSION_PATCH 0

#if defined(__GNUC__)
#define ZR_API __attribute__((visibility("default")))
#else
#define ZR_API
#endif

/* Bytes of a decoded record, with the shape prefix of a Ragged one (F5). */
#define ZR_RECORD_MAX ((uint64_t)1 << 31)
/* Dimensions of a record. A Dense record has at most 63 (F3), so that a batch
 * of them still has 64, which is NumPy's limit. */
#define ZR_RANK_MAX 64
/* "Not about a record", "not known". */
#define ZR_NONE UINT64_MAX

enum zr_kind { ZR_DENSE, ZR_RAGGED };
enum zr_codec { ZR_RAW = 0, ZR_ZSTD = 1, ZR_ZSTD_DICT = 2 };

struct zr_container;
struct zr_reader;
struct zr_writer;
struct zr_executor;

/* ---- Errors ---------------------------------------------------------- */

/* What went wrong, where. `message` is one line without a newline, complete
 * in itself: it names the path and the record, and says what was expected
 * and found. The other fields are the same facts for programs; a number that
 * does not apply is ZR_NONE, a path that does not apply is empty. */
struct zr_error {
	int code;          /* what the function returned */
	uint64_t record;   /* id of the record, or its place in an append */
	uint64_t offset;   /* byte offset in the file, or in the record if the
			    * caller asked for a part of one */
	uint64_t expected; /* the value or bound that should hold */
	uint64_t found;    /* the value that was there */
	char path[256];    /* the file or its container; a longer path keeps
			    * its end */
	char message[640];
};

/* Return a short text for one of the codes above, in static memory. */
ZR_API const char *zr_strerror(int code);

/* Return "MAJOR.MINOR.PATCH" of the library that runs, in static memory. */
ZR_API const char *zr_version(void);

/* Return "raw", "zstd" or "zstd_dict", in static memory, or NULL for a number
 * that is no codec. */
ZR_API const char *zr_codec_name(enum zr_codec codec);

/* ---- Types ----------------------------------------------------------- */

/* The type of an element, by NumPy's dtype.str: byte order, kind, size. */
struct zr_dtype {
	char str[24];      /* canonical text, e.g. "<f4", "|S5", "<M8[ns]" */
	char kind;         /* b i u f c m M S U V as in NumPy */
	char order;        /* '<' little, '>' big, '|' not applicable */
	uint32_t itemsize; /* bytes, 1..2^31 - 1 */
};

/* A shape: dims[0..rank) in C order, outermost first. rank 0 is a scalar. */
struct zr_shape {
	uint32_t rank;
	uint64_t dims[ZR_RANK_MAX];
};

/* Parse `len` bytes of dtype text (F3) into *out, in canonical spelling.
 * Returns 0; -EINVAL if it is not a dtype; -ENOTSUP for one that cannot be
 * stored (objects, structures, zero-size types). */
ZR_API int zr_dtype_parse(struct zr_dtype *out, const char *text, size_t len);

/* Store the number of elements in *items and their bytes in *bytes; either
 * may be NULL. Returns 0; -EINVAL if rank > 64 or a result is over 2^63 - 1. */
ZR_API int zr_shape_size(const struct zr_dtype *dtype,
			 const struct zr_shape *shape, uint64_t *items,
			 uint64_t *bytes);

/* ---- Open and describe ----------------------------------------------- */

/* Let zr_open return a container that was never published; it has 0 records
 * and zr_info()->published is false. */
#define ZR_OPEN_UNPUBLISHED 1u
/* Let zr_open return a container that was never published, or whose files are
 * shorter than its header says, with every entry that its table has room for;
 * records that were not written or are cut off are bad records. A whole
 * container opens as ever. For `zrecord recover`. */
#define ZR_OPEN_RECOVER 2u
/* Compare each record that is read with its hash in the sidecar check.zr
 * (F13), if there is one: a difference is -EBADMSG. Slices of raw records then
 * cost a read of the whole record. zr_check compares without this flag. */
#define ZR_OPEN_CHECK 4u
/* Do as if there were no check.zr, also if it is not of this container. */
#define ZR_OPEN_NO_CHECKSUMS 8u

/* Where the bytes of data.zr are while the container is open.
 *
 * ZR_PLACE_MAP      mapped: the fastest, shared with other processes. Each
 *                   such open, and each new reader of it, puts a SIGBUS handler
 *                   of the process in place if it is not there, so that a file
 *                   which is cut meanwhile is -EIO and not the end of the
 *                   program; faults elsewhere, and signals that were sent, are
 *                   passed on to the handler that was there. A program that
 *                   replaces the handler gives up that protection until the
 *                   next such call, for all its containers, unless its handler
 *                   passes on what it does not know, and for good from the
 *                   64th replacement on: its handler then stays in place.
 *                   One that blocks SIGBUS in a thread gives the protection up
 *                   for what that thread reads.
 * ZR_PLACE_RESIDENT copied once into memory of the process, on huge pages
 *                   where there are any: immune to changes of the file.
 * ZR_PLACE_READ     read(2) for each record: fixed memory, no handler, and a
 *                   file that is cut is -EIO. For network file systems, data
 *                   larger than memory, servers.
 * ZR_PLACE_AUTO     MAP if the file is on a local file system, fits into the
 *                   memory of the machine and can be mapped, else READ. */
enum zr_placement {
	ZR_PLACE_AUTO,
	ZR_PLACE_MAP,
	ZR_PLACE_RESIDENT,
	ZR_PLACE_READ
};

struct zr_open_options {
	size_t size;    /* sizeof(struct zr_open_options) */
	uint32_t flags; /* ZR_OPEN_* */
	enum zr_placement placement;
};
#define ZR_OPEN_OPTIONS_INIT                                                   \
	{                                                                      \
		sizeof(struct zr_open_options), 0, ZR_PLACE_AUTO               \
	}

/* Open the container in the directory `path`. `opt` may be NULL.
 *
 * Validates all that concerns the container as a whole (F7); a record that is
 * bad is found when it is read and spoils nothing else. Reads into memory the
 * table (16 bytes per record), the dictionary, and check.zr (8 bytes per
 * record, or 16 and 8 for each dimension; not with ZR_OPEN_NO_CHECKSUMS), and
 * the data only for ZR_PLACE_RESIDENT. Holds a shared lock on the container,
 * which keeps nobody from reading.
 *
 * The container lives until zr_close. Any thread.
 * Returns 0, -EUCLEAN, -ENOTSUP (a container of another version of loaderx, F12;
 * the message says which), -ENODATA, -EBUSY, -EINVAL (unknown flag or
 * placement), -ENOMEM, -EIO, or what open(2) gave. */
ZR_API int zr_open(struct zr_container **out, const char *path,
		   const struct zr_open_options *opt, struct zr_error *err);

/* Release a container. NULL is allowed. All its readers must be gone. */
ZR_API void zr_close(struct zr_container *c);

/* What a container holds. Fields may be appended in later versions. */
struct zr_info {
	enum zr_kind kind;
	enum zr_codec codec;
	struct zr_dtype dtype;
	struct zr_shape item_shape; /* Dense; rank 0 for Ragged */
	uint64_t record_bytes;      /* Dense: bytes of a record; Ragged: 0 */
	uint64_t records;
	uint64_t stored_bytes; /* committed bytes of data.zr */
	uint64_t dict_bytes;   /* bytes of dict.zr, 0 without one */
	int64_t mtime_sec;     /* last change of meta.zr */
	uint32_t mtime_nsec;
	bool published;
	bool checksums; /* there is a sidecar check.zr in use */
};

/* Return the description of `c`, which lives as long as `c`. Any thread. */
ZR_API const struct zr_info *zr_info(const struct zr_container *c);

/* Return the sum of the decoded lengths of all records whose table entry is
 * good, in bytes; a Ragged record counts with its shape prefix (F5). Visits
 * the whole table. Any thread. */
ZR_API uint64_t zr_logical_bytes(const struct zr_container *c);

/* Write the description of `c` as one JSON object and a newline into `buf`,
 * which has room for `size` bytes, with a terminating NUL. *len receives its
 * length without the NUL, also when it does not fit. 4096 bytes are enough.
 * Returns 0, or -ERANGE if it does not fit. Any thread. */
ZR_API int zr_info_json(const struct zr_container *c, char *buf, size_t size,
			size_t *len);

/* ---- Threads --------------------------------------------------------- */

/* Create a budget of `threads` threads that gathers, appends and checks may
 * use together; the thread that calls counts as one of them. 0 means as many
 * as the process may use CPUs. Threads are started when first needed, with
 * signals blocked except those that an instruction raises (SIGBUS, SIGSEGV,
 * SIGFPE, SIGILL).
 * Returns 0, -EINVAL (over 4096 threads), -ENOMEM. */
ZR_API int zr_executor_new(struct zr_executor **out, unsigned threads);

/* End the threads and free the executor. NULL is allowed. All readers and
 * writers that were given it must be gone. */
ZR_API void zr_executor_free(struct zr_executor *ex);

/* Return the number of threads of `ex`, or 1 for NULL. */
ZR_API unsigned zr_executor_threads(const struct zr_executor *ex);

/* Call fn(ctx, lane, task) once for each task in [0, tasks), on the caller
 * and on free threads of `ex` (NULL: on the caller alone), and return when
 * all calls have returned. `lane` is below zr_executor_threads(ex), and no
 * two calls of one run that overlap in time have the same lane. Any thread,
 * also several at once; not from inside `fn`. */
ZR_API void zr_executor_run(struct zr_executor *ex, size_t tasks,
			    void (*fn)(void *ctx, unsigned lane, size_t task),
			    void *ctx);

/* ---- Read ------------------------------------------------------------ */

/* Create a reader: the scratch that one thread needs to read from `c`. With
 * an executor, large gathers run on its threads; NULL means on the caller.
 * Free it before `c` and `ex`.
 * Returns 0, -ENOMEM. */
ZR_API int zr_reader_new(struct zr_reader **out, const struct zr_container *c,
			 struct zr_executor *ex);

/* Free a reader. NULL is allowed. */
ZR_API void zr_reader_free(struct zr_reader *r);

/* Forget the record that zr_read_part keeps, and free every buffer of the
 * reader that is larger than `keep` bytes: a reader has met a large record
 * and will live on. 0 frees all scratch. */
ZR_API void zr_reader_trim(struct zr_reader *r, size_t keep);

/* Ask the system to read the stored bytes of these records from the disk, and
 * return without waiting for them: for ids that will be gathered soon. A gather
 * of 8 records or 16 KiB asks for its own records by itself. A hint: ids that
 * are no good are passed over, and while the data of the container is seen to
 * be in memory nothing is asked (network file systems, which do not tell, are
 * always asked). Any thread. */
ZR_API void zr_prefetch(const struct zr_container *c, const uint64_t *ids,
			size_t count);

/* Store the shape of record `id` in *shape and the bytes of its elements in
 * *bytes; either may be NULL. Dense: no I/O. Ragged: reads the beginning of
 * a record and decodes no more than a block of it (128 KiB), unless its frame
 * does not say how large it is; with a sidecar (F13) it reads nothing.
 * Returns 0, -ERANGE, -EBADMSG, -EIO, -ENOMEM. */
ZR_API int zr_record_shape(struct zr_reader *r, uint64_t id,
			   struct zr_shape *shape, uint64_t *bytes,
			   struct zr_error *err);

/* Read the elements of record `id`, C order, byte order as stored, into
 * `dst`, which has room for `size` bytes. *bytes (may be NULL) receives their
 * number; *shape (may be NULL) the shape. A room of zr_record_bound(c, id)
 * bytes always suffices; with less a Ragged record is decoded in memory of the
 * reader first, which is as large.
 * On failure the contents of `dst` are unspecified.
 * Returns 0, -ERANGE, -EINVAL (too little room; *bytes says how much),
 * -EBADMSG, -EIO, -ENOMEM. */
ZR_API int zr_read(struct zr_reader *r, uint64_t id, void *dst, size_t size,
		   uint64_t *bytes, struct zr_shape *shape,
		   struct zr_error *err);

/* Read `len` bytes of the elements of record `id`, from byte `offset` of them
 * on, into `dst`. A raw record is read only there. A compressed one is decoded
 * whole; the reader keeps the last one, so that slices in a row decode once.
 * Returns 0, -ERANGE, -EINVAL (the span leaves the record), -EBADMSG, -EIO,
 * -ENOMEM. */
ZR_API int zr_read_part(struct zr_reader *r, uint64_t id, uint64_t offset,
			void *dst, size_t len, struct zr_error *err);

/* Return a bound on the bytes of record `id`, from the table alone: exact for
 * Dense; for Ragged with its shape prefix, 1 + 8 * rank (F5). 0 if there is no
 * such record or its table entry is bad. Any thread. */
ZR_API uint64_t zr_record_bound(const struct zr_container *c, uint64_t id);

/* Read and decode record `id` and check all that can be checked, keeping
 * nothing. Returns 0, -ERANGE, -EBADMSG, -EIO, -ENOMEM. */
ZR_API int zr_check(struct zr_reader *r, uint64_t id, struct zr_error *err);

/* Gather `count` records of a Dense container: the elements of record ids[i]
 * go to dst + i * record_bytes, in request order; ids may repeat. `dst` has
 * room for `size` bytes, at least count * record_bytes. count may be 0.
 * On failure the contents of `dst` are unspecified; err->record is the id.
 * Returns 0, -ERANGE, -EINVAL (Ragged, or too little room), -EBADMSG, -EIO,
 * -ENOMEM. */
ZR_API int zr_gather_dense(struct zr_reader *r, const uint64_t *ids,
			   size_t count, void *dst, size_t size,
			   struct zr_error *err);

/* A batch of records with shapes of their own, packed: nothing is padded.
 *
 *     elements of record i   values[offsets[i] .. offsets[i + 1])   bytes
 *     shape of record i      dims[dim_offsets[i] .. dim_offsets[i + 1])
 *
 * so its rank is dim_offsets[i + 1] - dim_offsets[i]. offsets[0] and
 * dim_offsets[0] are 0. Elements start at multiples of the item size, not at
 * a power of two: copy before use as a type that needs alignment. */
struct zr_ragged {
	size_t count;
	unsigned char *values;
	uint64_t *offsets; /* count + 1 */
	uint64_t *dims;
	uint64_t *dim_offsets; /* count + 1 */
	size_t values_size;    /* room: bytes of values */
	size_t dims_size;      /* room: entries of dims */
	size_t count_size;     /* room: records; the offsets have one more */
	void *block;           /* the library's allocation, or NULL */
	size_t block_size;     /* its bytes */
};

/* Gather `count` records of a Ragged container into *out, in request order.
 *
 * Memory is one of two kinds. A zeroed *out: the call makes one allocation,
 * which zr_ragged_free releases; the same struct may be passed again, then
 * the allocation is reused and grows when it must. Or the caller's buffers:
 * `block` NULL and the four pointers and three rooms set; zr_ragged_bound
 * tells how large; zr_ragged_free is then not needed and does nothing.
 *
 * On failure the batch is empty and the memory stays with *out.
 * Returns 0, -ERANGE, -EINVAL (Dense, or a buffer is too small), -EBADMSG,
 * -EIO, -ENOMEM; err->record is the id. */
ZR_API int zr_gather_ragged(struct zr_reader *r, const uint64_t *ids,
			    size_t count, struct zr_ragged *out,
			    struct zr_error *err);

/* Store rooms that suffice for a gather of these ids, from the table alone:
 * bytes of values and entries of dims. Any thread.
 * Returns 0, -ERANGE, -EBADMSG (a table entry is bad), -EINVAL (Dense). */
ZR_API int zr_ragged_bound(const struct zr_container *c, const uint64_t *ids,
			   size_t count, size_t *values_size, size_t *dims_size,
			   struct zr_error *err);

/* Free the allocation of zr_gather_ragged and zero *batch. NULL is allowed. */
ZR_API void zr_ragged_free(struct zr_ragged *batch);

/* ---- Memory for batches ---------------------------------------------- */

/* A pool of buffers to gather into. Fresh pages cost more than the copy of a
 * batch, so a buffer that was given back serves again; large ones lie on pages
 * of 2 MiB where the system has any. Up to `keep` bytes of buffers that are
 * not in use are kept; 0 keeps none.
 *
 * Any thread may call, several at once, but in a child of fork only
 * zr_pool_free. Returns 0, -ENOMEM. */
struct zr_pool;
ZR_API int zr_pool_new(struct zr_pool **out, size_t keep);

/* Return a buffer of at least `size` bytes, at a multiple of 4096 (from 2 MiB
 * on: of 2 MiB), contents unspecified; or NULL: no memory. It is the caller's
 * until zr_pool_put. */
ZR_API void *zr_pool_get(struct zr_pool *pool, size_t size);

/* Give back a buffer of this pool. NULL is allowed. */
ZR_API void zr_pool_put(struct zr_pool *pool, void *buffer);

/* Free the pool and all its buffers, also those in use. NULL is allowed. */
ZR_API void zr_pool_free(struct zr_pool *pool);

/* ---- Write ----------------------------------------------------------- */

struct zr_create_options {
	size_t size; /* sizeof(struct zr_create_options) */
	enum zr_codec codec;
	int level;        /* zstd level; 0: a good one for the codec */
	const void *dict; /* zstd_dict: a dictionary (F6), copied */
	size_t dict_bytes;
	struct zr_executor *executor; /* compresses on its threads, or NULL */
	bool no_checksums;            /* leave the sidecar check.zr out (F13) */
};
#define ZR_CREATE_OPTIONS_INIT                                                 \
	{                                                                      \
		sizeof(struct zr_create_options), ZR_RAW, 0, NULL, 0, NULL,    \
			false                                                  \
	}

/* Start a container that will appear at `path`, which must not exist.
 *
 * `item_shape` is the shape of every record for ZR_DENSE and NULL for
 * ZR_RAGGED. `opt` may be NULL (raw). Until zr_publish everything lies in a
 * hidden directory beside `path`, ".NAME.XXXXXX.zrtmp"; a process that dies
 * leaves that directory and no `path` (on a file system that cannot rename
 * without replacing: an empty directory, if it dies in that moment).
 * A writer keeps the stored bytes of two spans of records: raw ones of 8 MiB
 * at most, encoded ones of 8 MiB or a record for each thread of the executor,
 * but no more than 256 MiB and one record.
 *
 * Returns 0, -EEXIST, -EINVAL (a shape, level or dictionary that cannot be
 * stored), -ENOTSUP, -ENOMEM, -EIO, or what mkdir(2) and open(2) gave. */
ZR_API int zr_create(struct zr_writer **out, const char *path,
		     enum zr_kind kind, const struct zr_dtype *dtype,
		     const struct zr_shape *item_shape,
		     const struct zr_create_options *opt, struct zr_error *err);

/* Append `count` records from `items`, count * record_bytes bytes, C order,
 * in the byte order of the dtype. They get the next ids in this order.
 *
 * Several threads may append to one writer: each call is whole, and the calls
 * are in some order. An error of writing is kept: every later append of
 * records returns it and zr_publish refuses. After -ENOMEM nothing of the
 * call is appended, and it may be tried again.
 * Returns 0, -EINVAL (Ragged), -ENOSPC, -EDQUOT, -EFBIG, -EIO, -ENOMEM. */
ZR_API int zr_append_dense(struct zr_writer *w, const void *items, size_t count,
			   struct zr_error *err);

/* Append batch->count records; `values`, `offsets`, `dims` and `dim_offsets`
 * are read, the rooms and the block are not. A record must have at least one
 * element and its bytes must be those of its shape. Nothing of a batch that
 * is refused is appended. Else as zr_append_dense.
 * Returns 0, -EINVAL (Dense, or a record is not storable: err->record is its
 * place in the batch), -ENOSPC, -EDQUOT, -EFBIG, -EIO, -ENOMEM. */
ZR_API int zr_append_ragged(struct zr_writer *w, const struct zr_ragged *batch,
			    struct zr_error *err);

/* Make the container appear at its path, whole and on stable storage, and
 * free the writer; no other call may be using it. On failure nothing appears
 * (what a failing disk does not let be renamed back is left), what was written
 * is removed, and the writer is freed as well. Returns 0, -EEXIST, the kept
 * error of an append, -ENOSPC, -EDQUOT, -EFBIG, -EIO, -ENOMEM, what rename(2)
 * gave, or -EINVAL in a child. */
ZR_API int zr_publish(struct zr_writer *w, struct zr_error *err);

/* Return the hidden directory that holds what was written, which lives as long
 * as the writer: for a program that must end without zr_discard. Rename it
 * before removing it, so that it cannot be published meanwhile. Any thread. */
ZR_API const char *zr_writer_path(const struct zr_writer *w);

/* Remove what was written and free the writer. NULL is allowed. */
ZR_API void zr_discard(struct zr_writer *w);

/* Train a dictionary for ZR_ZSTD_DICT from `count` samples that lie one after
 * the other at `samples`, sizes[i] bytes each. `dict` has room for `size`
 * bytes, at least 256; *bytes receives the length. Takes seconds, on the caller
 * alone, and cannot be stopped: some 10 s for 64 MiB of samples. Needs memory of
 * some 16 bytes a sample and 20 MiB besides.
 * Any thread. Returns 0; -EINVAL if the room is too small, or the samples are
 * too few or too small to train on; -ENOMEM. */
ZR_API int zr_train(void *dict, size_t size, size_t *bytes, const void *samples,
		    const size_t *sizes, size_t count, struct zr_error *err);

/* ---- .npy files ------------------------------------------------------ */

/* No header of zr_npy_header is longer. */
#define ZR_NPY_HEADER_MAX 2048

/* Write into `buf` the header that numpy.save writes for a C-order array, up
 * to the first byte of its elements; *len receives its length, a multiple of
 * 64. `size` bytes are there; ZR_NPY_HEADER_MAX are enough.
 * Returns 0, -ERANGE (buf too small), -EINVAL (rank over 64). */
ZR_API int zr_npy_header(void *buf, size_t size, size_t *len,
			 const struct zr_dtype *dtype,
			 const struct zr_shape *shape);

/* What the header of a .npy file says. */
struct zr_npy {
	struct zr_dtype dtype;
	struct zr_shape shape;
	bool fortran_order;
	size_t header_bytes; /* offset of the first element */
	uint64_t data_bytes; /* bytes of all elements */
};

/* Tell from the first 12 bytes of a .npy file how long its header is.
 * Returns 0, -EUCLEAN (not a .npy file), -ENOTSUP (an unknown version, or a
 * header over 1 MiB). */
ZR_API int zr_npy_header_bytes(const void *first12, size_t *bytes);

/* Parse the header in buf[0, len), which must be whole. Stricter than NumPy:
 * exactly three keys, plain non-negative decimal dimensions, checked product.
 * Returns 0, -EUCLEAN (malformed), -ENOTSUP (a dtype that cannot be stored, an
 * unknown version, a header over 1 MiB).
 * `err` says what was wrong, without a path. */
ZR_API int zr_npy_parse(const void *buf, size_t len, struct zr_npy *out,
			struct zr_error *err);

/* ---- Selections ------------------------------------------------------ */

/* A list of ids as a user writes it: ids and Python slices joined by commas,
 * "5", "0,5,2", "10:20", "::-1". Slices follow slice.indices(records), except
 * that a negative start or stop is an error; ids must be below `records`. */
struct zr_range {
	uint64_t start;
	int64_t step;   /* not 0 */
	uint64_t count; /* ids start, start + step, ...; all in range */
};
struct zr_selection {
	struct zr_range *ranges;
	size_t range_count;
	uint64_t count; /* ids in all ranges together */
};

/* Parse `len` bytes of `text` for a container of `records` records. Memory
 * grows with the text, not with the ids. Free with zr_selection_free.
 * A slice may be empty, so count may be 0.
 * Returns 0, -EINVAL (not a selection, or over 2^63 - 1 ids), -ERANGE (no such
 * record), -ENOMEM. */
ZR_API int zr_selection_parse(struct zr_selection *out, const char *text,
			      size_t len, uint64_t records,
			      struct zr_error *err);

/* Store ids number [first, first + count) of the selection in `ids`; returns
 * how many there were, which is less than `count` at the end. */
ZR_API size_t zr_selection_ids(const struct zr_selection *sel, uint64_t first,
			       size_t count, uint64_t *ids);

/* Free what zr_selection_parse allocated and zero *sel. */
ZR_API void zr_selection_free(struct zr_selection *sel);

/* ---- Text ------------------------------------------------------------ */

/* Receives `len` bytes of output; returns 0, or a negative number that ends
 * the conversion and is returned by it. */
typedef int (*zr_put_fn)(void *ctx, const char *text, size_t len);

/* Write an array as numbers for people: the last axis on one line, its
 * elements apart by a space, each with the fewest digits that read back the
 * same; numpy.loadtxt reads numeric ones. Independent of the locale. Elements
 * need no alignment. Any thread.
 * Returns 0, -EINVAL (an impossible shape), or what `put` returned. */
ZR_API int zr_text(const struct zr_dtype *dtype, const struct zr_shape *shape,
		   const void *elements, zr_put_fn put, void *ctx);

/* Write an array as JSON: nested lists, numbers as above; what JSON has no
 * number for (NaN, infinities, complex, dates, bytes) as strings. Nothing
 * follows the last bracket. Any thread.
 * Returns 0, -EINVAL (an impossible shape), or what `put` returned. */
ZR_API int zr_json(const struct zr_dtype *dtype, const struct zr_shape *shape,
		   const void *elements, zr_put_fn put, void *ctx);

#ifdef __cplusplus
}
#endif

#endif
