/* SPDX-License-Identifier: BSD-2-Clause
 * A directory of a test's own, removed with all in it. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct scratch {
	char dir[512];
	char path[8][640]; /* results of scratch_path, used in turn */
	unsigned next;
};

static inline void scratch_make(struct scratch *s)
{
	const char *base = getenv("TMPDIR");

	memset(s, 0, sizeof(*s));
	snprintf(s->dir, sizeof(s->dir), "%s/zrtest.XXXXXX",
		 base && *base ? base : "/tmp");
	if (!mkdtemp(s->dir))
		abort();
}

/* dir/name, good until seven more were asked for. */
static inline const char *scratch_path(struct scratch *s, const char *name)
{
	char *p = s->path[s->next++ % 8];

	snprintf(p, sizeof(s->path[0]), "%s/%s", s->dir, name);
	return p;
}

static inline int scratch_unlink(const char *path, const struct stat *st,
				 int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void scratch_remove(struct scratch *s)
{
	nftw(s->dir, scratch_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

/* Entries of the directory, without . and .. */
static inline int scratch_count_cb(const char *path, const struct stat *st,
				   int type, struct FTW *ftw);
static int scratch_entries;

static inline int scratch_count_cb(const char *path, const struct stat *st,
				   int type, struct FTW *ftw)
{
	(void)path;
	(void)st;
	(void)type;
	if (ftw->level == 1)
		scratch_entries++;
	return 0;
}

static inline int scratch_count(struct scratch *s)
{
	scratch_entries = 0;
	nftw(s->dir, scratch_count_cb, 16, FTW_PHYS);
	return scratch_entries;
}

#endif
