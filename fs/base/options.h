/* SPDX-License-Identifier: BSD-2-Clause
 * The room base: what every file of the driver may need: its options, messages,
 * names, clocks; nothing of containers or FUSE.
 *
 * What a mount was asked to be. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define OPTIONS_BATCHES_MAX 16
/* Records of a batch: what an inode number has room for (tree.h). */
#define OPTIONS_BATCH_MAX ((uint64_t)1 << 31)

/* What is shown of a container. */
enum layout {
	LAYOUT_FULL,
	LAYOUT_RECORDS, /* records/ only */
	LAYOUT_FLAT,    /* the files of records/ in the root */
};

/* Whether what was read stays in the kernel. */
enum cache_mode {
	CACHE_PAGE,   /* in the page cache */
	CACHE_DIRECT, /* not: reads come as they are asked for, up to 1 MiB */
	CACHE_AUTO,   /* of files up to OPTIONS_AUTO_BYTES */
};

#define OPTIONS_AUTO_BYTES ((uint64_t)8 << 20)

struct options {
	const char *container;
	const char *mountpoint;
	bool foreground;
	bool debug;
	bool single;
	bool fake;   /* mount(8) -f: all but the mount */
	bool sloppy; /* mount(8) -s: unknown options are no error */
	bool helper; /* called as mount.zrecordfs */
	uid_t uid;
	gid_t gid;
	mode_t umask;
	const char *fsname;  /* NULL: the path of the container */
	const char *subtype; /* NULL: zrecordfs */
	unsigned threads;    /* 0: as many as make sense */
	uint64_t cache_bytes;
	enum layout layout;
	enum cache_mode cache;
	bool preload;
	bool no_push;
	uint64_t push_bytes;    /* ahead of a reader; 0 if no_push */
	bool no_checksums;      /* do not compare records with check.zr */
	bool verify_open;       /* check a record before its open is answered */
	unsigned readahead_kib; /* 0: as the kernel has it */
	bool no_sandbox;        /* do not give up any rights */
	bool xattr;
	bool cleanup_stale; /* unmount a dead mount of ours first */
	unsigned batch_count;
	uint64_t batch[OPTIONS_BATCHES_MAX];
	uint32_t given;    /* options with a value so far, 1 << kind */
	bool auto_unmount; /* also in `pass` */
	char *pass; /* options for libfuse, each with a comma before it */
	char *text; /* what the strings above point into */
};

#endif
