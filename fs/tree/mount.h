/* SPDX-License-Identifier: BSD-2-Clause
 * The room tree: what is mounted: the containers, and which file is which of
 * their records.
 *
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
#include "stream.h"
#include "tree.h"
#include "zrecord.h"

_Static_assert(OPTIONS_BATCH_MAX <= TREE_BATCH_MAX,
	       "a batch that can be asked for has an inode number");

struct cache;
struct gathers;
struct loop;
struct park;
struct push;
struct worker;

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
	_Atomic uint32_t tell;         /* of those that listings tell next */
	struct push *push;             /* while serving */
	struct park *park;             /* while serving */
	struct loop *loop;             /* while serving */
	_Atomic uint64_t init_unique;  /* the INIT request, while unanswered */
	_Atomic uint32_t init_offered; /* its flags */
	_Atomic uint32_t init_offered2;
	_Atomic uint64_t errors;        /* that readers got */
	_Atomic uint64_t complained;    /* when, see complain() */
	_Atomic uint64_t complaints;    /* that were not told since */
	int readahead_fd;               /* until the session is ready */
	unsigned readahead_kib;         /* of the kernel; 0: unknown */
	char sandbox[80];               /* for stats.json (sandbox.h) */
	struct memory memory;           /* of the machine; for push */
	pthread_key_t worker_key;
	pthread_mutex_t lock;
	struct worker *workers; /* under lock */
};

#endif
