/* SPDX-License-Identifier: BSD-2-Clause
 * The room common: what the commands share: their options, what they print,
 * signals, what they make and how it is named.
 *
 * What the subcommands of `zrecord` share. */
#ifndef CLI_H
#define CLI_H

#include <stdatomic.h>
#include <stdio.h>

#include "zrecord.h"

/* Exit statuses. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

struct command {
	const char *name;
	const char *usage; /* after "zrecord NAME " */
	const char *help;  /* one paragraph and the options */
	int (*run)(const struct command *self, int argc, char **argv);
};

extern const struct command cmd_bench, cmd_cat, cmd_create, cmd_export,
	cmd_info, cmd_ls, cmd_mount, cmd_recode, cmd_recover, cmd_train,
	cmd_umount, cmd_verify;

/* Print "zrecord: MESSAGE" on stderr; return CLI_FAILED. */
__attribute__((format(printf, 1, 2))) int cli_fail(const char *fmt, ...);
/* The same for an error of the library. */
int cli_error(const struct zr_error *err);
/* The same and where help is; return CLI_USAGE. */
__attribute__((format(printf, 2, 3))) int cli_usage(const struct command *cmd,
						    const char *fmt, ...);

/* Print a line on stderr that is no error, unless cli_quiet (-q) is set. */
__attribute__((format(printf, 1, 2))) void cli_note(const char *fmt, ...);
extern bool cli_quiet;
/* Set when a signal ends the command: what fails then fails because of it, and
 * cli_fail prints nothing. */
extern atomic_bool cli_ended;

/* `word` as a shell takes it, in `buf` of at least 8 bytes, which is returned;
 * cut if it does not fit. */
const char *cli_quote(char *buf, size_t size, const char *word);

/* Set by --no-checksums: containers are opened as if they had no check.zr. */
extern bool cli_no_checksums;

/* A number without sign, in [min, max]. Returns false if it is not. */
bool cli_number(const char *text, uint64_t min, uint64_t max, uint64_t *out);

/* Open a container to read from, comparing its checksums; NULL after printing
 * why not. */
struct zr_container *cli_open(const char *path, uint32_t flags);

/* Flush stdout; CLI_FAILED, after printing, if any write to it failed. */
int cli_flush(int status);

/* Read a regular file of 1 to `most` bytes whole; *out is the caller's to
 * free. CLI_FAILED after printing. */
int cli_read_file(const char *path, uint64_t most, unsigned char **out,
		  size_t *len);

/* Digits of names in an export or a mount: at least 6. */
int cli_name_digits(uint64_t records);

/* 1234567 -> "1.2 MiB" in a static buffer. */
const char *cli_size(uint64_t bytes);

#endif
