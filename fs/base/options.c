/* SPDX-License-Identifier: BSD-2-Clause
 * The command line: of zrecordfs, and of mount.zrecordfs as mount(8) calls
 * it. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "name.h"
#include "optname.h"
#include "say.h"
#include "zrecord.h"

#define CACHE_MB_DEFAULT 64
#define PUSH_MB_DEFAULT 8
#define PUSH_MB_MAX 1024u
#define CACHE_MB_MAX ((uint64_t)1 << 20)
#define BATCH_DEFAULT 256
#define THREADS_MAX 256
#define READAHEAD_KB_MAX (64u << 10)

static const char help[] =
	"usage: zrecordfs [-f] [-d] [-s] [-o OPTION[,OPTION...]] CONTAINER "
	"DIRECTORY\n"
	"Show a Zrecord container as read-only files: each record a .npy.\n"
	"\n"
	"  -f            stay in the foreground\n"
	"  -d            print every request, in the foreground\n"
	"  -s            serve with a single thread\n"
	"  -h, --help    print this\n"
	"  -V, --version print the version\n"
	"\n"
	"  -o batch=N:M..    sizes that batches/ lists (256)\n"
	"  -o layout=full|records|flat  all (default), records/ only, or "
	"its files in\n"
	"                    the root\n"
	"  -o cache_mb=N     decoded records to keep, in MiB (64)\n"
	"  -o cache=page|direct|auto  what was read stays in the page cache "
	"(default),\n"
	"                    does not, or does of files up to 8 MiB\n"
	"  -o push_mb=N      bytes that the kernel is told ahead of a reader "
	"who goes\n"
	"                    through records/ in order, in MiB (8)\n"
	"  -o preload        give the kernel all records that fit in half of "
	"the memory,\n"
	"                    from the start\n"
	"  -o push=off       tell the kernel only what it asks for\n"
	"  -o checksums=off  do not compare records with check.zr (on)\n"
	"  -o verify=open    check records when they are opened, not as they "
	"are read\n"
	"  -o sandbox=off    keep the rights to open files and start programs "
	"(on)\n"
	"  -o readahead_kb=N how far the kernel reads ahead (128); only root; "
	"for streams\n"
	"                    of large files, 1024 and more\n"
	"  -o xattr          extended attributes: dtype, shape, codec, index\n"
	"  -o cleanup_stale  unmount first what a driver that died has left\n"
	"  -o threads=N      threads that serve (as many as CPUs, at most 16)\n"
	"  -o uid=N,gid=N,umask=OCTAL   owner and permissions of all files\n"
	"  -o allow_other    let other users read the mount\n"
	"  -o fsname=TEXT,subtype=TEXT  what /proc/mounts tells\n"
	"  -o auto_unmount   unmount when the driver dies\n"
	"\n"
	"Unmount with: fusermount3 -u DIRECTORY\n";

static int bad_value(const char *option)
{
	say("-o %s: not a valid value", option);
	return EXIT_USAGE;
}

static int parse_sizes(struct options *opt, const char *option, char *value)
{
	char *save = NULL;
	uint64_t size;

	opt->batch_count = 0;
	for (char *p = strtok_r(value, ":", &save); p;
	     p = strtok_r(NULL, ":", &save)) {
		bool known = false;

		if (!name_parse_number(p, &size) || !size ||
		    size > OPTIONS_BATCH_MAX)
			return bad_value(option);
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
	return opt->batch_count ? -1 : bad_value(option);
}

/* Store in *off whether a switch is "off"; it may also be "on". */
static int parse_switch(bool *off, const char *option, const char *value)
{
	*off = !strcmp(value, "off");
	return *off || !strcmp(value, "on") ? -1 : bad_value(option);
}

/* Which of three words the value is. */
static int parse_word(unsigned *word, const char *const names[static 3],
		      const char *option, const char *value)
{
	for (*word = 0; *word < 3; (*word)++) {
		if (!strcmp(value, names[*word]))
			return -1;
	}
	return bad_value(option);
}

static int word_option(struct options *opt, enum option_kind kind,
		       const char *option, const char *value)
{
	static const char *const layouts[] = { "full", "records", "flat" };
	static const char *const caches[] = { "page", "direct", "auto" };
	bool layout = kind == OPTION_LAYOUT;
	unsigned word;
	int rc = parse_word(&word, layout ? layouts : caches, option, value);

	if (rc < 0 && layout)
		opt->layout = (enum layout)word;
	else if (rc < 0)
		opt->cache = (enum cache_mode)word;
	return rc;
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

static int number_option(struct options *opt, enum option_kind kind,
			 const char *option, const char *value)
{
	uint64_t n;

	if (!name_parse_number(value, &n))
		return bad_value(option);
	if (kind == OPTION_UID || kind == OPTION_GID) {
		/* (uid_t)-1 means "no user" to the kernel. */
		if (n >= UINT32_MAX)
			return bad_value(option);
		if (kind == OPTION_UID)
			opt->uid = (uid_t)n;
		else
			opt->gid = (gid_t)n;
	} else if (kind == OPTION_THREADS) {
		if (!n || n > THREADS_MAX)
			return bad_value(option);
		opt->threads = (unsigned)n;
	} else if (kind == OPTION_READAHEAD_KB) {
		if (!n || n > READAHEAD_KB_MAX)
			return bad_value(option);
		opt->readahead_kib = (unsigned)n;
	} else if (kind == OPTION_PUSH_MB) {
		if (!n || n > PUSH_MB_MAX)
			return bad_value(option);
		opt->push_bytes = n << 20;
	} else {
		if (n > CACHE_MB_MAX)
			return bad_value(option);
		opt->cache_bytes = n << 20;
	}
	return -1;
}

/* libfuse splits the list at commas that have no backslash. */
static int pass_on(struct options *opt, const char *option)
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

static int value_option(struct options *opt, enum option_kind kind,
			const char *option, char *value)
{
	switch (kind) {
	case OPTION_UMASK:
		return parse_mode(value, &opt->umask) ? -1 : bad_value(option);
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
			       : bad_value(option);
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
		return pass_on(opt, option);
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
	return bad_value(option);
}

static int unknown_option(const char *option)
{
	const char *near = option_nearest(option);
	int len = (int)strcspn(option, "=");

	if (near)
		say("unknown option '%.*s': did you mean '%s'?", len, option,
		    near);
	else
		say("unknown option '%.*s': see zrecordfs --help", len, option);
	return EXIT_USAGE;
}

static int one_option(struct options *opt, char *option)
{
	enum option_kind kind = option_kind(option);
	char *value = strchr(option, '=');

	if (!*option || kind == OPTION_IGNORE)
		return -1;
	if (kind == OPTION_UNKNOWN)
		return opt->sloppy ? -1 : unknown_option(option);
	if (kind == OPTION_REMOUNT) {
		say("a mounted container cannot be mounted anew with other "
		    "options: unmount it, then mount it with them");
		return EXIT_MOUNT;
	}
	if (option_takes_value(kind) != (value && value[1])) {
		say("option '%s' %s", option,
		    option_takes_value(kind) ? "needs a value"
					     : "takes no value");
		return EXIT_USAGE;
	}
	/* mount(8) puts its own words behind those of fstab: the last counts.
	 * Typed by hand, the first would be forgotten. */
	if (value && kind != OPTION_LABEL && !opt->helper &&
	    opt->given >> kind & 1) {
		say("option '%.*s' is given twice; the second is '%s'",
		    (int)(value - option), option, option);
		return EXIT_USAGE;
	}
	if (value) {
		int rc;
		/* The message must show the option as it was typed. */
		char *typed = strdup(option);

		if (!typed)
			return EXIT_SYSTEM;
		rc = value_option(opt, kind, typed, value + 1);
		opt->given |= 1u << kind;
		free(typed);
		return rc;
	}
	if (kind == OPTION_PASS) {
		opt->auto_unmount |= !strcmp(option, "auto_unmount");
		return pass_on(opt, option);
	}
	opt->debug |= kind == OPTION_DEBUG;
	opt->xattr |= kind == OPTION_XATTR;
	opt->preload |= kind == OPTION_PRELOAD;
	opt->cleanup_stale |= kind == OPTION_CLEANUP_STALE;
	/* mount(8) adds rw to every line without ro. */
	if (kind == OPTION_RW && !opt->helper)
		say("a container is read-only: mounted ro, not rw");
	return -1;
}

/* Split at commas; a backslash keeps the byte after it, as libfuse and
 * mount(8) write commas in paths, and quotes keep what is between them, as
 * labels of SELinux are written. Works in place. */
static int option_list(struct options *opt, char *list)
{
	while (list) {
		char *to = list, *from = list, *start = list;
		bool quoted = false;
		int rc;

		while (*from && (*from != ',' || quoted)) {
			quoted ^= *from == '"' && (quoted || (from > start &&
							   from[-1] == '='));
			if (*from == '\\' && from[1])
				from++;
			*to++ = *from++;
		}
		list = *from ? from + 1 : NULL;
		*to = '\0';
		rc = one_option(opt, start);
		if (rc >= 0)
			return rc;
	}
	return -1;
}

static int bad_flag(bool no_value, const char *last)
{
	char name[3] = { '-', (char)optopt, '\0' };

	/* A long one has no letter; it is the argument that was looked at. */
	say("%s %s: see zrecordfs --help", optopt ? name : last,
	    no_value ? "needs a value" : "is unknown");
	return EXIT_USAGE;
}

static int flag(struct options *opt, int c)
{
	switch (c) {
	case 'f':
		opt->foreground |= !opt->helper;
		opt->fake |= opt->helper;
		return -1;
	case 's':
		opt->single |= !opt->helper;
		opt->sloppy |= opt->helper;
		return -1;
	case 'd':
		opt->debug = true;
		return -1;
	case 'n':
	case 'v':
	case 'N':
	case 't':
		return -1;
	case 'h':
		fputs(help, stdout);
		return EXIT_DONE;
	case 'V':
		printf("zrecordfs %s\n", zr_version());
		return EXIT_DONE;
	default:
		return EXIT_USAGE;
	}
}

static bool is_helper(const char *argv0)
{
	const char *slash = strrchr(argv0, '/');

	return !strncmp(slash ? slash + 1 : argv0, "mount.", 6);
}

/* All -o together, joined by commas, so that one buffer holds what the
 * parsed strings point into and -s counts wherever it stands. */
static int join(char **list, const char *more)
{
	size_t have = *list ? strlen(*list) + 1 : 0;
	char *p = realloc(*list, have + strlen(more) + 1);

	if (!p) {
		say("%s", zr_strerror(-ENOMEM));
		return EXIT_SYSTEM;
	}
	if (have)
		p[have - 1] = ',';
	strcpy(p + have, more);
	*list = p;
	return -1;
}

static int parse_flags(struct options *opt, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int c, rc = -1;

	opterr = 0;
	while (rc < 0) {
		c = getopt_long(argc, argv,
				opt->helper ? ":fsnvN:t:o:hV" : ":fdso:hV",
				longs, NULL);
		if (c == -1)
			break;
		if (c == 'o')
			rc = join(&opt->text, optarg);
		else if (c == '?' || c == ':')
			rc = bad_flag(c == ':', argv[optind - 1]);
		else
			rc = flag(opt, c);
	}
	return rc;
}

/* Some exclude others. */
static int consistent(const struct options *opt)
{
	if (opt->preload && opt->no_push) {
		say("-o preload and push=off exclude each other");
		return EXIT_USAGE;
	}
	if (opt->preload && opt->cache == CACHE_DIRECT) {
		say("-o preload and cache=direct exclude each other");
		return EXIT_USAGE;
	}
	return -1;
}

int options_parse(struct options *opt, int argc, char **argv)
{
	int rc;

	*opt = (struct options){
		.helper = argc > 0 && is_helper(argv[0]),
		.uid = getuid(),
		.gid = getgid(),
		.cache_bytes = (uint64_t)CACHE_MB_DEFAULT << 20,
		.push_bytes = (uint64_t)PUSH_MB_DEFAULT << 20,
		.batch = { BATCH_DEFAULT },
		.batch_count = 1,
	};
	rc = parse_flags(opt, argc, argv);
	if (rc < 0 && opt->text)
		rc = option_list(opt, opt->text);
	if (rc >= 0)
		return rc;
	if (argc - optind != 2) {
		say("expected CONTAINER and DIRECTORY, found %d argument%s: "
		    "see zrecordfs --help",
		    argc - optind, argc - optind == 1 ? "" : "s");
		return EXIT_USAGE;
	}
	opt->container = argv[optind];
	opt->mountpoint = argv[optind + 1];
	opt->foreground |= opt->debug;
	if (opt->no_push)
		opt->push_bytes = 0;
	return consistent(opt);
}

void options_free(struct options *opt)
{
	free(opt->pass);
	free(opt->text);
	opt->pass = NULL;
	opt->text = NULL;
}
