/* SPDX-License-Identifier: BSD-2-Clause
 * What serving threads use: caches they share, scratch each has alone. */
#ifndef WORKER_H
#define WORKER_H

#include "tree/mount.h"

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

/* Count a request that the calling thread is to answer. */
void count_request(struct mount *m, enum request kind);

/* Store how many requests there were of each kind. */
void count_sum(struct mount *m, uint64_t sum[static REQUESTS]);

/* Tell why a READ failed, not too often. */
void complain(struct mount *m, const struct zr_error *err);

/* Return the positive errno that the kernel gets for an error of libzrecord:
 * what is wrong with the data is an I/O error to a reader of files. */
int errno_of(int rc);

#endif
