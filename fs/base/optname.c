/* SPDX-License-Identifier: BSD-2-Clause
 * The names that may follow -o, and the one a misspelt name was meant to
 * be. */
#include "optname.h"

#include <stddef.h>
#include <string.h>

#define COMPARED_MAX 32

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
	{ "owner", OPTION_IGNORE },
	{ "group", OPTION_IGNORE },
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
	return kind >= OPTION_UID;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Insertions, deletions and changes between two names. */
static unsigned distance(const char *a, size_t len, const char *b)
{
	unsigned row[COMPARED_MAX + 1];

	for (unsigned i = 0; i <= len; i++)
		row[i] = i;
	for (unsigned j = 1; *b; j++, b++) {
		unsigned corner = row[0];

		row[0] = j;
		for (size_t i = 1; i <= len; i++) {
			unsigned change = corner + (a[i - 1] != *b);

			corner = row[i];
			row[i] = least(change, least(row[i], row[i - 1]) + 1);
		}
	}
	return row[len];
}

const char *option_nearest(const char *name)
{
	size_t len = strcspn(name, "=");
	unsigned best = ~0u;
	const char *found = names[0].name;

	if (len > COMPARED_MAX)
		len = COMPARED_MAX;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		unsigned d = distance(name, len, names[i].name);

		if (d < best) {
			best = d;
			found = names[i].name;
		}
	}
	return found;
}
