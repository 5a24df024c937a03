/* SPDX-License-Identifier: BSD-2-Clause
 * The room batch: the records of coming steps, gathered by threads and lent to
 * the caller. Here are the loader's fields, which its files share: a ring of
 * slots that a gatherer fills, transform threads change and the caller
 * borrows. */
#ifndef ZL_LOADER_H
#define ZL_LOADER_H

#include <pthread.h>
#include <sys/types.h>

#include "order/sampler.h"

#define ZL_NAME_MAX 63u

/* In the order a slot goes through. Only the thread that put a slot into
 * FILLING or CHANGING touches its contents; then READY, then the caller. */
enum zl_slot_state {
	ZL_FREE,
	ZL_FILLING,
	ZL_GATHERED,
	ZL_CHANGING,
	ZL_READY,
	ZL_BORROWED,
};

/* Memory of the ring: a buffer of the pool. */
struct zl_region {
	unsigned char *base;
	size_t size;
	bool pinned;
};

struct zl_slot {
	struct zl_batch batch; /* first: zl_return gets its address */
	struct zl_loader *loader;
	enum zl_slot_state state; /* under loader->lock */
	/* Under loader->lock: one for the loader and then the caller, one for
	 * each tensor, which a transform may have made. */
	unsigned refs;
	bool lent; /* under loader->lock: the caller has the batch */
	struct zl_state before;   /* from which its step is drawn */
	uint64_t *ids;
	struct zl_region dense;   /* all Dense arrays */
	struct zl_region *ragged; /* one per stream; grows */
	int rc;                   /* of gather or transform */
	struct zl_error err;
};

/* A step that was drawn and waits for its turn. */
struct zl_step {
	bool drawn;
	uint64_t number;
	struct zl_place place;
	uint64_t *ids;
	size_t count;
	struct zl_state after; /* from which the next step is drawn */
	int rc;
	struct zl_error err;
};

/* A stream or an output. */
struct zl_source {
	char name[ZL_NAME_MAX + 1];
	const struct zr_container *container; /* NULL: output */
	struct zr_reader *reader;             /* while running */
	enum zr_kind kind;
	struct zr_dtype dtype;
	struct zr_shape item_shape;
	uint64_t record_bytes; /* Dense */
	size_t offset;         /* Dense: in the slot's region */
};

struct zl_loader {
	struct zl_options opt;
	struct zl_source *source;
	size_t sources, streams;    /* streams come first */
	struct zl_sampler *sampler; /* the gatherer's while running */
	size_t room;                /* ids per slot */
	size_t dense_bytes;         /* of a slot */
	struct zr_pool *pool;       /* of the regions */
	struct zl_slot *slot;
	unsigned slots;
	struct zl_step ahead; /* the gatherer's */

	struct zr_executor *executor; /* while running */
	pthread_t *thread;            /* the gatherer, then transforms */
	unsigned threads;             /* started */
	pid_t pid; /* that started them, 0 without; atomic, for forks */

	pthread_mutex_t lock;
	pthread_cond_t space; /* a slot became free, or stop */
	pthread_cond_t work;  /* a slot was gathered, or stop */
	pthread_cond_t ready; /* a slot became ready, or stop */
	pthread_cond_t left;  /* a caller is no longer inside */
	/* All below under lock. */
	bool running;
	bool busy;    /* one caller starts, ends or moves the run */
	bool halt;    /* threads must end */
	bool stopped; /* zl_stop */
	bool closing; /* zl_close has begun */
	bool closed;
	unsigned inside;        /* callers in zl_next, zl_restore, zl_seek */
	unsigned entering;      /* callers that wait for those to leave */
	unsigned borrowed;      /* slots */
	uint64_t next;          /* step to deliver, if in order */
	struct zl_state drawn;  /* behind the last step in a slot */
	struct zl_slot *failed; /* delivered an error */
	struct zl_stats stats;
};

#endif
