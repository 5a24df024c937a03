/* SPDX-License-Identifier: BSD-2-Clause
 * The command `zrecord`: finds the subcommand and shows help. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "output.h"

static const struct command *const commands[] = {
	&cmd_create, &cmd_info,   &cmd_ls,      &cmd_cat,
	&cmd_export, &cmd_verify, &cmd_recover, &cmd_recode,
	&cmd_train,  &cmd_mount,  &cmd_umount,  &cmd_bench,
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_usage(FILE *f)
{
	fputs("usage: zrecord COMMAND [OPTION]... ARGUMENT...\n\n", f);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(f, "  zrecord %-7s %s\n", commands[i]->name,
			commands[i]->usage);
	fputs("\n'zrecord help COMMAND' tells more; 'zrecord --version' which "
	      "one this is.\n",
	      f);
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

/* Levenshtein distance of two short words. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[32];
	size_t n = strlen(b);

	if (strlen(a) > 30 || n > 30)
		return 99;
	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; a[i - 1]; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= n; j++) {
			unsigned change = diagonal + (a[i - 1] != b[j - 1]);
			unsigned best =
				row[j] < row[j - 1] ? row[j] : row[j - 1];

			diagonal = row[j];
			row[j] = best + 1 < change ? best + 1 : change;
		}
	}
	return row[n];
}

static int unknown(const char *name)
{
	const struct command *best = commands[0];

	for (size_t i = 1; i < COMMANDS; i++)
		if (distance(name, commands[i]->name) <
		    distance(name, best->name))
			best = commands[i];
	if (name[0] == '-')
		fprintf(stderr,
			"zrecord: '%s' comes before a command; try "
			"'zrecord help'\n",
			name);
	else if (distance(name, best->name) <= 3)
		fprintf(stderr,
			"zrecord: unknown command '%s'; did you mean '%s'?\n",
			name, best->name);
	else
		fprintf(stderr,
			"zrecord: unknown command '%s'; try 'zrecord help'\n",
			name);
	return CLI_USAGE;
}

static int help(const char *name)
{
	char help_option[] = "--help", program[] = "zrecord";
	char *argv[] = { program, help_option, NULL };
	const struct command *cmd;

	if (!name) {
		print_usage(stdout);
		return cli_flush(CLI_OK);
	}
	cmd = find(name);
	return cmd ? cmd->run(cmd, 2, argv) : unknown(name);
}

int main(int argc, char **argv)
{
	const struct command *cmd;
	int status;

	/* A limit on file sizes is an error of a write, like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	if (argc < 2) {
		print_usage(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("zrecord %s\n", zr_version());
		return cli_flush(CLI_OK);
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") ||
	    !strcmp(argv[1], "-h"))
		return help(argc > 2 ? argv[2] : NULL);
	cmd = find(argv[1]);
	if (!cmd)
		return unknown(argv[1]);
	status = cmd->run(cmd, argc - 1, argv + 1);
	if (output_stopped()) {
		/* What was unfinished is removed; end as the signal asks. */
		signal(output_stopped(), SIG_DFL);
		raise(output_stopped());
	}
	return status;
}
