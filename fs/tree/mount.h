/* SPDX-License-Identifier: BSD-2-Clause
 * What a mount consists of. The userdata of the FUSE session is the mount.
 *
 *     struct mount ── struct stream      a container, or several; immutable
 *         │   ├── struct cache x 2      decoded records, layouts of .npz
 *         │   └── struct gathers        selections that the kernel knows
 *         ├── struct push, park         threads beside those that serve
 *         └── struct worker             scratch, one per thread
 */
#ifndef MOUNT_H
#define MOUNT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/memory.h"
#include "base/options.h"
#include "tree.h"
#include "zrecord.h"

_Static_assert(OPTIONS_BATCH_MAX <= TREE_BATCH_MAX,
	       "a batch that can be asked for has an inode number");

/* A container and what is known of its files without reading. Or, without a
 * container, the folder of several. */
struct stream {
	uint32_t number; /* in inode numbers */
	char *name;      /* of one of several */
	struct zr_container *container;
	const struct zr_info *info;
	enum layout layout;
	bool dense;
	unsigned width;     /* digits in the name of a record */
	uint64_t all_bytes; /* size of all.npy, or 0 if there is none */
	char *json;         /* info.json */
	size_t json_len;
	size_t header_len; /* Dense: of each record's file */
	unsigned char header[ZR_NPY_HEADER_MAX];
};

/* Ids that a gather is asked for at once. */
#define WORKER_IDS 1024

/* What the kernel asks for, as stats.json counts it. */
enum request {
	REQUEST_LOOKUP,
	REQUEST_GETATTR,
	REQUEST_OPEN,
	REQUEST_READ,
	REQUEST_READDIR,
	REQUEST_READDIRPLUS,
	REQUEST_FORGET,
	REQUEST_OTHER,
	REQUESTS,
};

/* A worker keeps no larger buffers for the next request. */
#define WORKER_KEEP ((size_t)2 << 20)

/* A worker has as many readers, by the number of the stream. */
#define WORKER_READERS 32

/* Used by one thread only, but for the counts, which others read. */
struct worker {
	struct worker *next; /* under mount->lock */
	struct zr_executor *executor;
	struct zr_reader *reader; /* of the stream that it works on */
	struct {
		const struct stream *stream;
		struct zr_reader *reader;
	} readers[WORKER_READERS];
	unsigned char *reply, *scratch;
	size_t reply_size, scratch_size;
	uint64_t ids[WORKER_IDS];
	bool wait; /* for room in the cache of images; else -EAGAIN */
	_Atomic uint64_t requests[REQUESTS];
};

struct daemon;
struct gathers;

struct mount {
	const struct options *opt;
	bool ready; /* mount_init was called */
	bool several;
	uint32_t stream_count;
	struct stream *streams; /* number 0, or of several 1, 2, ... by name */
	struct stream folder;   /* number 0 of several */
	struct zr_info folder_info;
	struct cache *images;  /* files of compressed records, by inode */
	struct cache *layouts; /* struct npz, by inode */
	struct gathers *gathers;
	struct zr_executor *executor; /* many records of one READ; or NULL */
	bool no_open;                 /* the kernel takes ENOSYS from open */
	bool no_opendir;
	bool plus_always;              /* a listing makes all files known */
	struct push *push;             /* while serving */
	struct park *park;             /* while serving */
	_Atomic uint64_t init_unique;  /* the INIT request, while unanswered */
	_Atomic uint32_t init_offered; /* its flags */
	_Atomic uint32_t init_offered2;
	_Atomic uint64_t complaints;    /* see complain() */
	struct daemon *_Atomic waiting; /* for a thread that serves */
	int readahead_fd;               /* until the session is ready */
	unsigned readahead_kib;         /* of the kernel; 0: unknown */
	char sandbox[80];               /* for stats.json (sandbox.h) */
	struct memory memory;           /* of the machine; for push */
	pthread_key_t worker_key;
	pthread_mutex_t lock;
	struct worker *workers; /* under lock */
};

/* ---- stream.c ---- */

/* Open the container at `path`, whose records are compared with their check
 * sums if `check`. Returns 0 or a negative errno after saying why; then
 * nothing is left to close. */
int stream_open(struct stream *s, const char *path, bool check);

void stream_close(struct stream *s);

/* Whether a part of record `id` costs little more than its part of the time. */
bool stream_in_parts(const struct stream *s, uint64_t id);

/* Return how many batches of `size` records there are. */
uint64_t stream_batches(const struct stream *s, uint64_t size);

/* Return the number of records in batch `index`, which must exist. */
uint64_t stream_batch_count(const struct stream *s, uint64_t size,
			    uint64_t index);

/* Write the header of a file that holds `count` records of a Dense stream as
 * one array; returns its length. `buf` has ZR_NPY_HEADER_MAX bytes. */
size_t stream_rows_header(const struct stream *s, uint64_t count,
			  unsigned char *buf);

/* ---- streams.c ---- */

/* Open the container at `path`, or all in the folder `path`. Returns 0 or a
 * negative errno after saying why; streams_close is right in both cases. */
int streams_open(struct mount *m, const char *path);

void streams_close(struct mount *m);

/* Return the one of several that has this name, or NULL. */
const struct stream *stream_named(const struct mount *m, const char *name);

/* ---- worker.c ---- */

/* Return how many threads serve. */
unsigned mount_threads(const struct options *opt);

/* Make the caches and the rest that the opened streams need. Returns 0 or
 * -ENOMEM; mount_free is right in both cases. */
int mount_init(struct mount *m);

/* Free all of the mount but the streams. No thread may be serving. */
void mount_free(struct mount *m);

/* Return the scratch of the calling thread, or NULL without memory. */
struct worker *mount_worker(struct mount *m);

/* Set w->reader to read from `s`. Returns 0 or -ENOMEM. */
int worker_use(struct worker *w, const struct stream *s);

/* Return at least `size` bytes, which the thread may use until it asks
 * again; NULL without memory. */
unsigned char *worker_reply(struct worker *w, size_t size);
unsigned char *worker_scratch(struct worker *w, size_t size);

/* Free what a large record has left behind. */
void worker_trim(struct worker *w);

/* Return the stream a node belongs to, or NULL. */
struct stream *mount_stream(struct mount *m, const struct node *n);

/* Count a request that the calling thread is to answer. */
void count_request(struct mount *m, enum request kind);

/* Store how many requests there were of each kind. */
void count_sum(struct mount *m, uint64_t sum[static REQUESTS]);

/* Tell whoever watches the foreground, not too often, why a READ failed. */
void complain(struct mount *m, const struct zr_error *err);

/* Return the positive errno that the kernel gets for an error of libzrecord:
 * what is wrong with the data is an I/O error to a reader of files. */
int errno_of(int rc);

#endif
