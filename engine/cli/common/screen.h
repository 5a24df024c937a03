/* SPDX-License-Identifier: BSD-2-Clause
 * Standard error: messages, and a bar that is drawn on the last line. Each is
 * written at once, past stdio, so that threads do not mix them. */
#ifndef SCREEN_H
#define SCREEN_H

#define SCREEN_LINE 2304 /* bytes of a text, with its NUL: at most */

/* Take away what is drawn, and write a line, with its newline. */
void screen_line(const char *line);
/* Draw `text`, without a newline, instead of what is drawn. */
void screen_draw(const char *text);
/* Take away what is drawn. */
void screen_clear(void);

/* The process ends: take away what is drawn, but wait for nothing, and let no
 * other thread write any more. */
void screen_leave(void);

#endif
