/* SPDX-License-Identifier: BSD-2-Clause
 * The names that may follow -o, and the one a misspelt name was meant to
 * be. */
#include "optname.h"

#include <stddef.h>
#include <string.h>

#define COMPARED_MAX 32
#define ALIKE 3
#define NOT_MEANT ~0u

struct option_name {
	const char *name;
	enum option_kind kind;
};

static const struct option_name names[] = {
	{ "ro", OPTION_IGNORE },
	{ "rw", OPTION_RW },
	{ "defaults", OPTION_IGNORE },
	{ "debug", OPTION_DEBUG },
	{ "uid", OPTION_UID },
	{ "gid", OPTION_GID },
	{ "umask", OPTION_UMASK },
	{ "fsname", OPTION_FSNAME },
	{ "subtype", OPTION_SUBTYPE },
	{ "batch", OPTION_BATCH },
	{ "checksums", OPTION_CHECKSUMS },
	{ "sandbox", OPTION_SANDBOX },
	{ "cache", OPTION_CACHE },
	{ "readahead_kb", OPTION_READAHEAD_KB },
	{ "layout", OPTION_LAYOUT },
	{ "push", OPTION_PUSH },
	{ "push_mb", OPTION_PUSH_MB },
	{ "cache_mb", OPTION_CACHE_MB },
	{ "threads", OPTION_THREADS },
	{ "verify", OPTION_VERIFY },
	{ "xattr", OPTION_XATTR },
	{ "preload", OPTION_PRELOAD },
	{ "cleanup_stale", OPTION_CLEANUP_STALE },
	{ "allow_other", OPTION_PASS },
	{ "allow_root", OPTION_PASS },
	{ "auto_unmount", OPTION_PASS },
	{ "context", OPTION_LABEL },
	{ "fscontext", OPTION_LABEL },
	{ "defcontext", OPTION_LABEL },
	{ "rootcontext", OPTION_LABEL },
	{ "remount", OPTION_REMOUNT },
	/* What lines for other FUSE drivers carry, and is so here anyway. */
	{ "nonempty", OPTION_IGNORE },
	{ "kernel_cache", OPTION_IGNORE },
	{ "auto_cache", OPTION_IGNORE },
	{ "big_writes", OPTION_IGNORE },
	{ "use_ino", OPTION_IGNORE },
	/* Always on: the modes are real. */
	{ "default_permissions", OPTION_IGNORE },
	/* What fstab lines carry. A file here is never a device and never
	 * executable, and its times never change. */
	{ "dev", OPTION_IGNORE },
	{ "nodev", OPTION_IGNORE },
	{ "suid", OPTION_IGNORE },
	{ "nosuid", OPTION_IGNORE },
	{ "exec", OPTION_IGNORE },
	{ "noexec", OPTION_IGNORE },
	{ "atime", OPTION_IGNORE },
	{ "noatime", OPTION_IGNORE },
	{ "diratime", OPTION_IGNORE },
	{ "nodiratime", OPTION_IGNORE },
	{ "relatime", OPTION_IGNORE },
	{ "norelatime", OPTION_IGNORE },
	{ "strictatime", OPTION_IGNORE },
	{ "nostrictatime", OPTION_IGNORE },
	{ "lazytime", OPTION_IGNORE },
	{ "nolazytime", OPTION_IGNORE },
	{ "sync", OPTION_IGNORE },
	{ "async", OPTION_IGNORE },
	{ "dirsync", OPTION_IGNORE },
	{ "silent", OPTION_IGNORE },
	{ "loud", OPTION_IGNORE },
	{ "user", OPTION_IGNORE },
	{ "users", OPTION_IGNORE },
	{ "nouser", OPTION_IGNORE },
	{ "nousers", OPTION_IGNORE },
	{ "owner", OPTION_IGNORE },
	{ "noowner", OPTION_IGNORE },
	{ "group", OPTION_IGNORE },
	{ "nogroup", OPTION_IGNORE },
	{ "mand", OPTION_IGNORE },
	{ "nomand", OPTION_IGNORE },
	{ "iversion", OPTION_IGNORE },
	{ "noiversion", OPTION_IGNORE },
	{ "nosymfollow", OPTION_IGNORE },
	{ "auto", OPTION_IGNORE },
	{ "noauto", OPTION_IGNORE },
	{ "nofail", OPTION_IGNORE },
	{ "_netdev", OPTION_IGNORE },
	{ "comment", OPTION_IGNORE },
};

enum option_kind option_kind(const char *name)
{
	size_t len = strcspn(name, "=");

	if (!strncmp(name, "x-", 2) || !strncmp(name, "X-", 2))
		return OPTION_IGNORE;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i].name) == len &&
		    !memcmp(names[i].name, name, len))
			return names[i].kind;
	}
	return OPTION_UNKNOWN;
}

bool option_takes_value(enum option_kind kind)
{
	return kind >= OPTION_LABEL;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Letters to insert, remove, change or swap with their neighbour. The command
 * has the same (engine/cli/common/near.c): all that both may use is zrecord.h, and
 * which words look alike is no matter of a library. */
static unsigned edits(const char *a, size_t n, const char *b, size_t m)
{
	unsigned d[COMPARED_MAX + 1][COMPARED_MAX + 1];

	for (size_t i = 0; i <= n; i++) {
		for (size_t j = 0; j <= m; j++) {
			if (!i || !j) {
				d[i][j] = (unsigned)(i + j);
				continue;
			}
			d[i][j] = least(d[i - 1][j], d[i][j - 1]) + 1;
			d[i][j] = least(d[i][j], d[i - 1][j - 1] +
							 (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[n][m];
}

/* 0 if the word begins the name; more than any edits if it is hardly meant.
 * Words that begin alike may differ in more letters. */
static unsigned distance(const char *word, size_t len, const char *name)
{
	unsigned found;

	if (!strncmp(word, name, len))
		return 0;
	if (len < ALIKE)
		return NOT_MEANT;
	found = edits(word, len, name, strlen(name));
	return found <= (strncmp(word, name, ALIKE) ? 1 : 2) ? found
							     : NOT_MEANT;
}

const char *option_nearest(const char *name)
{
	size_t len = strcspn(name, "=");
	unsigned best = NOT_MEANT;
	const char *found = NULL;

	if (!len || len > COMPARED_MAX)
		return NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		unsigned d = distance(name, len, names[i].name);

		if (d < best) {
			best = d;
			found = names[i].name;
		}
	}
	return found;
}
