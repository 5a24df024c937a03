/* SPDX-License-Identifier: BSD-2-Clause
 * One line on stderr, and the exit statuses of mount(8). */
#ifndef SAY_H
#define SAY_H

enum exit_status {
	EXIT_DONE = 0,
	EXIT_USAGE = 1,
	EXIT_SYSTEM = 2,
	EXIT_MOUNT = 32,
};

/* Print "zrecordfs: " and the message and a newline as one write. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
