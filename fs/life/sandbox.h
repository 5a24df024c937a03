/* SPDX-License-Identifier: BSD-2-Clause
 * What the driver gives up once everything is open and mounted: it answers
 * requests from files it has, and does nothing else any more. */
#ifndef SANDBOX_H
#define SANDBOX_H

#include <stdbool.h>

/* What is in force, as bits: each where the kernel has it. */
enum {
	SANDBOX_NO_NEW_PRIVS = 1, /* nor through programs that are setuid */
	SANDBOX_CAPABILITIES = 2, /* none, if root */
	SANDBOX_LANDLOCK = 4,     /* no file can be opened or made by name */
	SANDBOX_SECCOMP = 8,      /* few system calls are left; EPERM */
	SANDBOX_ALL = 15,
};

/* Whether this build can do its work in it: sanitizers need files and
 * processes of their own. */
bool sandbox_fits(void);

/* Enter it: this thread, and those that it starts from now on. Returns the
 * bits. There is no way back. */
unsigned sandbox_enter(void);

/* Room for the longest text of sandbox_names, with its NUL. */
#define SANDBOX_NAMES_MAX 80

/* Write what the bits stand for, as a JSON list without its brackets. */
void sandbox_names(unsigned in_force, char names[static SANDBOX_NAMES_MAX]);

#endif
