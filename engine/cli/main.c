/* SPDX-License-Identifier: BSD-2-Clause
 * The command `zrecord`: finds the subcommand and shows help. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/near.h"
#include "common/stop.h"

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

static int unknown(const char *name)
{
	const struct command *best = NULL;
	unsigned least = NEAR_NOT;

	for (size_t i = 0; i < COMMANDS; i++) {
		unsigned d = near_distance(name, strlen(name),
					   commands[i]->name);

		if (d < least) {
			least = d;
			best = commands[i];
		}
	}
	if (name[0] == '-')
		cli_fail("'%s' comes before a command; try 'zrecord help'",
			 name);
	else if (best)
		cli_fail("unknown command '%s'; did you mean '%s'?", name,
			 best->name);
	else
		cli_fail("unknown command '%s'; try 'zrecord help'", name);
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
	stop_wait();
	return status;
}
