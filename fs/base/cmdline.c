/* SPDX-License-Identifier: BSD-2-Clause
 * The command line: of zrecordfs, and of mount.zrecordfs as mount(8) calls
 * it. */
#include "cmdline.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "optname.h"
#include "optvalue.h"
#include "say.h"
#include "zrecord.h"

#define CACHE_MB_DEFAULT 64
#define PUSH_MB_DEFAULT 8
#define BATCH_DEFAULT 256

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
		rc = options_value(opt, kind, typed, value + 1);
		opt->given |= 1u << kind;
		free(typed);
		return rc;
	}
	if (kind == OPTION_PASS) {
		opt->auto_unmount |= !strcmp(option, "auto_unmount");
		return options_pass_on(opt, option);
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
