/* SPDX-License-Identifier: BSD-2-Clause
 * The options of a command, by getopt_long. */
#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "near.h"
#include "paths.h"

#define THREADS_MAX 4096
/* What getopt returns for row 0; letters are below. */
#define FIRST 256

struct getopt_tables {
	struct option *longs;
	char *shorts;
};

/* Of a letter, getopt tells the letter and not its row. */
static void fill(struct getopt_tables *t, const struct option_row *rows)
{
	struct option *l = t->longs;
	char *s = t->shorts;
	int i;

	*s++ = ':';
	*s++ = 'h';
	for (i = 0; rows[i].name; i++) {
		bool value = rows[i].value != NULL;

		if (rows[i].name[1]) {
			*l++ = (struct option){ rows[i].name,
						value ? required_argument
						      : no_argument,
						NULL, FIRST + i };
		} else {
			*s++ = rows[i].name[0];
			if (value)
				*s++ = ':';
		}
	}
	*l = (struct option){ "help", no_argument, NULL, FIRST + i };
}

/* For every row and --help; CLI_FAILED after printing. */
static int make_tables(struct getopt_tables *t, const struct option_row *rows)
{
	size_t count = 0;

	while (rows[count].name)
		count++;
	t->longs = calloc(count + 2, sizeof(*t->longs));
	t->shorts = calloc(2 * count + 3, 1);
	if (!t->longs || !t->shorts)
		return cli_fail("no memory");
	fill(t, rows);
	return CLI_OK;
}

static const struct option_row *find(const struct option_row *rows, int c)
{
	for (int i = 0; rows[i].name; i++)
		if (c == FIRST + i ||
		    (!rows[i].name[1] && c == rows[i].name[0]))
			return &rows[i];
	return NULL;
}

static const char *dashes(const struct option_row *row)
{
	return row->name[1] ? "--" : "-";
}

/* `word` is --NAME or --NAME=VALUE. */
static int unknown(const struct command *cmd, const struct option_row *rows,
		   const char *word)
{
	const struct option_row *best = NULL;
	unsigned least = NEAR_NOT;

	for (; rows->name; rows++) {
		unsigned d = near_distance(word + 2, strcspn(word + 2, "="),
					   rows->name);

		if (rows->name[1] && d < least) {
			least = d;
			best = rows;
		}
	}
	if (best)
		return cli_usage(cmd, "unknown option '%s'; did you mean "
				      "'--%s'?",
				 word, best->name);
	return cli_usage(cmd, "unknown option '%s'", word);
}

static int wrong(const struct command *cmd, const struct option_row *rows,
		 bool no_value, const char *last)
{
	const struct option_row *row = find(rows, optopt);

	if (row && no_value)
		return cli_usage(cmd, "option '%s%s' needs a value",
				 dashes(row), row->name);
	/* A long one that is unknown has no letter; it is the argument that
	 * was looked at, as is one that takes no value and has one. */
	if (!optopt)
		return unknown(cmd, rows, last);
	if (optopt >= FIRST)
		return cli_usage(cmd, "option '%s' takes no value", last);
	if (optopt >= '0' && optopt <= '9')
		return cli_usage(cmd, "-%c: negative indices are not supported",
				 optopt);
	return cli_usage(cmd, "unknown option '-%c'", optopt);
}

int options_help(const struct command *cmd)
{
	printf("usage: zrecord %s %s\n\n%s", cmd->name, cmd->usage, cmd->help);
	return cli_flush(CLI_OK);
}

static int take_all(const struct command *cmd, const struct option_row *rows,
		    const struct getopt_tables *t, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, t->shorts, t->longs, NULL)) != -1) {
		const struct option_row *row = find(rows, c);

		if (c == '?' || c == ':')
			return wrong(cmd, rows, c == ':', argv[optind - 1]);
		if (!row)
			return options_help(cmd);
		if (row->flag) {
			*row->flag = true;
		} else if (!*row->value) {
			*row->value = optarg;
		} else {
			return cli_usage(cmd,
					 "option '%s%s' is given twice, as "
					 "'%s' and as '%s'",
					 dashes(row), row->name, *row->value,
					 optarg);
		}
	}
	return -1;
}

int options_take(const struct command *cmd, const struct option_row *rows,
		 int argc, char **argv)
{
	struct getopt_tables t = { NULL };
	int status = make_tables(&t, rows);

	if (!status)
		status = take_all(cmd, rows, &t, argc, argv);
	free(t.longs);
	free(t.shorts);
	return status;
}

/* "-" is standard input. */
static bool is_missing(const char *path)
{
	return strcmp(path, "-") && paths_missing(path);
}

static void print_word(FILE *f, const char *word)
{
	char buf[1024];

	fprintf(f, " %s", cli_quote(buf, sizeof(buf), word));
}

/* The command line with the last argument before the others. */
static char *turned(const struct command *cmd, int argc, char **argv)
{
	char *line = NULL;
	size_t len;
	FILE *f = open_memstream(&line, &len);

	if (!f)
		return NULL;
	fprintf(f, "zrecord %s", cmd->name);
	for (int i = 1; i < optind; i++)
		print_word(f, argv[i]);
	print_word(f, argv[argc - 1]);
	for (int i = optind; i < argc - 1; i++)
		print_word(f, argv[i]);
	fclose(f);
	return line;
}

/* Is there no source, but something at the destination, which is new? */
static bool turned_round(const char *dst, const char *src)
{
	return !is_missing(dst) && is_missing(src);
}

static bool is_array_name(const char *path)
{
	return paths_has_extension(path, ".npy") ||
	       paths_has_extension(path, ".npz");
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Could the last argument be the destination, and the others sources? A name
 * may just be misspelt. */
static bool may_turn(bool dst_first, int argc, char **argv)
{
	if (!dst_first)
		return paths_may_be_container(argv[argc - 1]);
	for (int i = optind; i < argc - 1; i++)
		if (is_missing(argv[i]))
			return false;
	return !is_array_name(argv[argc - 1]);
}

int options_order(const struct command *cmd, bool dst_first, int argc,
		  char **argv)
{
	const char *first = argv[optind], *last = argv[argc - 1];
	const char *dst = dst_first ? first : last;
	const char *src = dst_first ? last : first;
	const char *there = strcmp(dst, "-") ? dst : "standard input";
	char *line;

	/* A destination that is standard output is always there. */
	if (!turned_round(dst, src) || (!dst_first && there != dst))
		return -1;
	if (!may_turn(dst_first, argc, argv))
		return cli_usage(cmd, "%s exists and %s does not, but the %s "
				      "comes first, and the destination must "
				      "be new",
				 there, src,
				 dst_first ? "destination" : "source");
	line = turned(cmd, argc, argv);
	cli_usage(cmd, "%s exists and %s does not, but the %s comes first; "
		       "did you mean: %s",
		  there, src,
		  dst_first ? "destination" : "source",
		  line ? line : "the other order");
	free(line);
	return CLI_USAGE;
}

int options_value_order(const struct command *cmd, const char *option,
			const char *dst, const char *src, const char *argument)
{
	const char *value = argument == dst ? src : dst;
	const char *role = value == src ? "source" : "destination";
	char a[512], b[512];

	if (!turned_round(dst, src))
		return -1;
	if (value == src ? is_directory(dst) : is_array_name(src))
		return cli_usage(cmd, "%s exists and %s does not, but %s takes "
				      "the %s, and the destination must be new",
				 dst, src, option, role);
	return cli_usage(cmd, "%s exists and %s does not, but %s takes the %s; "
			      "did you mean: zrecord %s %s %s %s",
			 dst, src, option, role, cmd->name, option, cli_quote(a, sizeof(a), argument),
			 cli_quote(b, sizeof(b), value));
}

int options_threads(const struct command *cmd, const char *value,
		    unsigned *threads)
{
	uint64_t n;

	if (!value)
		return -1;
	if (!cli_number(value, 1, THREADS_MAX, &n))
		return cli_usage(cmd, "-j takes 1 to %d, not '%s'", THREADS_MAX,
				 value);
	*threads = (unsigned)n;
	return -1;
}
