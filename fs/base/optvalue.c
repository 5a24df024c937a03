/* SPDX-License-Identifier: BSD-2-Clause
 * The values of options. */
#include "optvalue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "name.h"
#include "say.h"
#include "zrecord.h"

#define PUSH_MB_MAX 1024u
#define CACHE_MB_MAX ((uint64_t)1 << 20)
#define THREADS_MAX 256
#define READAHEAD_KB_MAX (64u << 10)

static int bad_value(const char *option, const char *expected)
{
	say("-o %s: expected %s", option, expected);
	return EXIT_USAGE;
}

static int parse_sizes(struct options *opt, const char *option, char *value)
{
	static const char expected[] = "sizes from 1 on, as in batch=256:1024";
	char *save = NULL;
	uint64_t size;

	opt->batch_count = 0;
	for (char *p = strtok_r(value, ":", &save); p;
	     p = strtok_r(NULL, ":", &save)) {
		bool known = false;

		if (!name_parse_number(p, &size) || !size ||
		    size > OPTIONS_BATCH_MAX)
			return bad_value(option, expected);
		for (unsigned i = 0; i < opt->batch_count; i++)
			known |= opt->batch[i] == size;
		if (known)
			continue;
		if (opt->batch_count == OPTIONS_BATCHES_MAX) {
			say("-o %s: more than %d sizes", option,
			    OPTIONS_BATCHES_MAX);
			return EXIT_USAGE;
		}
		opt->batch[opt->batch_count++] = size;
	}
	return opt->batch_count ? -1 : bad_value(option, expected);
}

/* Store in *off whether a switch is "off"; it may also be "on". */
static int parse_switch(bool *off, const char *option, const char *value)
{
	*off = !strcmp(value, "off");
	return *off || !strcmp(value, "on") ? -1
					    : bad_value(option, "on or off");
}

static int word_option(struct options *opt, enum option_kind kind,
		       const char *option, const char *value)
{
	static const char *const layouts[] = { "full", "records", "flat" };
	static const char *const caches[] = { "page", "direct", "auto" };
	bool layout = kind == OPTION_LAYOUT;
	unsigned word = 0;

	while (word < 3 && strcmp(value, (layout ? layouts : caches)[word]))
		word++;
	if (word == 3)
		return bad_value(option, layout ? "full, records or flat"
						: "page, direct or auto");
	if (layout)
		opt->layout = (enum layout)word;
	else
		opt->cache = (enum cache_mode)word;
	return -1;
}

static bool parse_mode(const char *text, mode_t *mode)
{
	mode_t v = 0;
	size_t n = strspn(text, "01234567");

	if (!n || n > 4 || text[n])
		return false;
	for (; *text; text++)
		v = v << 3 | (mode_t)(*text - '0');
	*mode = v;
	return v <= 0777;
}

/* A number from `min` to `max`. */
static int number(uint64_t *n, uint64_t min, uint64_t max, const char *option,
		  const char *value)
{
	if (name_parse_number(value, n) && *n >= min && *n <= max)
		return -1;
	say("-o %s: expected a number from %llu to %llu", option,
	    (unsigned long long)min, (unsigned long long)max);
	return EXIT_USAGE;
}

static int number_option(struct options *opt, enum option_kind kind,
			 const char *option, const char *value)
{
	/* (uid_t)-1 means "no user" to the kernel. */
	const uint64_t id_max = UINT32_MAX - 1;
	uint64_t n = 0;
	int rc;

	if (kind == OPTION_UID) {
		rc = number(&n, 0, id_max, option, value);
		opt->uid = (uid_t)n;
	} else if (kind == OPTION_GID) {
		rc = number(&n, 0, id_max, option, value);
		opt->gid = (gid_t)n;
	} else if (kind == OPTION_THREADS) {
		rc = number(&n, 1, THREADS_MAX, option, value);
		opt->threads = (unsigned)n;
	} else if (kind == OPTION_READAHEAD_KB) {
		rc = number(&n, 1, READAHEAD_KB_MAX, option, value);
		opt->readahead_kib = (unsigned)n;
	} else if (kind == OPTION_PUSH_MB) {
		rc = number(&n, 1, PUSH_MB_MAX, option, value);
		opt->push_bytes = n << 20;
	} else {
		rc = number(&n, 0, CACHE_MB_MAX, option, value);
		opt->cache_bytes = n << 20;
	}
	return rc;
}

/* libfuse splits the list at commas that have no backslash. */
int options_pass_on(struct options *opt, const char *option)
{
	size_t have = opt->pass ? strlen(opt->pass) : 0;
	char *p = realloc(opt->pass, have + 2 * strlen(option) + 2);

	if (!p) {
		say("%s", zr_strerror(-ENOMEM));
		return EXIT_SYSTEM;
	}
	opt->pass = p;
	p += have;
	*p++ = ',';
	for (; *option; option++) {
		if (*option == ',' || *option == '\\')
			*p++ = '\\';
		*p++ = *option;
	}
	*p = '\0';
	return -1;
}

int options_value(struct options *opt, enum option_kind kind,
		  const char *option, char *value)
{
	switch (kind) {
	case OPTION_UMASK:
		return parse_mode(value, &opt->umask)
			       ? -1
			       : bad_value(option, "an octal mode, as 022");
	case OPTION_FSNAME:
		opt->fsname = value;
		return -1;
	case OPTION_SUBTYPE:
		opt->subtype = value;
		return -1;
	case OPTION_BATCH:
		return parse_sizes(opt, option, value);
	case OPTION_LAYOUT:
	case OPTION_CACHE:
		return word_option(opt, kind, option, value);
	case OPTION_PUSH:
		return parse_switch(&opt->no_push, option, value);
	case OPTION_VERIFY:
		opt->verify_open = !strcmp(value, "open");
		return opt->verify_open || !strcmp(value, "read")
			       ? -1
			       : bad_value(option, "read or open");
	case OPTION_CHECKSUMS:
		return parse_switch(&opt->no_checksums, option, value);
	case OPTION_SANDBOX:
		return parse_switch(&opt->no_sandbox, option, value);
	case OPTION_UID:
	case OPTION_GID:
	case OPTION_CACHE_MB:
	case OPTION_READAHEAD_KB:
	case OPTION_PUSH_MB:
	case OPTION_THREADS:
		return number_option(opt, kind, option, value);
	case OPTION_LABEL:
		/* The kernel refuses it elsewhere; mount(8) drops it too. */
		if (access("/sys/fs/selinux/enforce", F_OK))
			return -1;
		return options_pass_on(opt, option);
	case OPTION_UNKNOWN:
	case OPTION_IGNORE:
	case OPTION_PASS:
	case OPTION_RW:
	case OPTION_REMOUNT:
	case OPTION_DEBUG:
	case OPTION_XATTR:
	case OPTION_PRELOAD:
	case OPTION_CLEANUP_STALE:
		break;
	}
	return bad_value(option, "no value");
}
