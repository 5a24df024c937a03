/* SPDX-License-Identifier: BSD-2-Clause
 * The names that may follow -o, and the one a misspelt name was meant to
 * be. */
#ifndef OPTNAME_H
#define OPTNAME_H

#include <stdbool.h>

enum option_kind {
	OPTION_UNKNOWN,
	OPTION_IGNORE, /* for mount(8) and the kernel; nothing to do here */
	OPTION_PASS,   /* handed on to libfuse */
	OPTION_RW,
	OPTION_REMOUNT,
	OPTION_DEBUG,
	OPTION_XATTR,
	OPTION_PRELOAD,
	OPTION_CLEANUP_STALE,
	OPTION_LABEL, /* of SELinux: handed on where that is in force */
	OPTION_UID,
	OPTION_GID,
	OPTION_UMASK,
	OPTION_FSNAME,
	OPTION_SUBTYPE,
	OPTION_BATCH,
	OPTION_CHECKSUMS,
	OPTION_SANDBOX,
	OPTION_CACHE,
	OPTION_READAHEAD_KB,
	OPTION_LAYOUT,
	OPTION_PUSH,
	OPTION_PUSH_MB,
	OPTION_VERIFY,
	OPTION_CACHE_MB,
	OPTION_THREADS,
};

/* Return what the option `name` is; it ends before '=' if it has a value. */
enum option_kind option_kind(const char *name);

/* Return true if the option needs a value. */
bool option_takes_value(enum option_kind kind);

/* Return the known name that `name` was meant to be; NULL if none is near. */
const char *option_nearest(const char *name);

#endif
