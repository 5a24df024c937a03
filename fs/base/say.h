/* SPDX-License-Identifier: BSD-2-Clause
 * One line to whoever listens, and the exit statuses of mount(8). */
#ifndef SAY_H
#define SAY_H

#include <stdarg.h>

enum exit_status {
	EXIT_DONE = 0,
	EXIT_USAGE = 1,
	EXIT_SYSTEM = 2,
	EXIT_MOUNT = 32,
};

/* Print "zrecordfs: " and the message and a newline as one write. Any
 * thread. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

void vsay(const char *format, va_list ap) __attribute__((format(printf, 1, 0)));

/* Connect to the log of the system (/dev/log), if there is one, while files may
 * still be opened. */
void say_open_log(void);

/* From now on messages go there and not to stderr, which nobody reads any
 * more. A log that is full, or gone, loses them: it never makes us wait. */
void say_to_log(void);

#endif
