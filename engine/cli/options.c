/* SPDX-License-Identifier: BSD-2-Clause
 * The options of a command, by getopt_long. */
#include "options.h"

#include <getopt.h>
#include <string.h>

#define ROWS_MAX 16
#define THREADS_MAX 4096
/* What getopt returns for row 0; letters are below. */
#define FIRST 256

struct getopt_tables {
	struct option longs[ROWS_MAX + 2];
	char shorts[2 * ROWS_MAX + 3];
};

/* Of a letter, getopt tells the letter and not its row. */
static void fill(struct getopt_tables *t, const struct option_row *rows)
{
	struct option *l = t->longs;
	char *s = t->shorts;
	int i;

	memset(t, 0, sizeof(*t));
	*s++ = ':';
	*s++ = 'h';
	for (i = 0; rows[i].name && i < ROWS_MAX; i++) {
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
		return cli_usage(cmd, "unknown option '%s'", last);
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

int options_take(const struct command *cmd, const struct option_row *rows,
		 int argc, char **argv)
{
	struct getopt_tables t;
	int c;

	fill(&t, rows);
	while ((c = getopt_long(argc, argv, t.shorts, t.longs, NULL)) != -1) {
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
