/* SPDX-License-Identifier: BSD-2-Clause
 * A signal ends the command at once, whatever it is doing, and what is
 * unfinished is removed. */
#ifndef STOP_H
#define STOP_H

/* From here on SIGINT, SIGTERM and SIGHUP are taken by a thread that removes
 * what is unfinished and ends the process with the signal, so that no loop
 * and no library needs to look. It waits for nobody else, nor for a terminal
 * that is stopped. Without a thread they end it as ever. */
void stop_catch(void);

/* While something unfinished is being made the thread waits; then it knows the
 * `path` of the hidden file or directory (NULL: none was made). */
void stop_hold(void);
void stop_release(const char *path);

/* It is finished, or its owner has removed it. */
void stop_done(void);
/* Remove it here, in one way with the thread. */
void stop_discard(void);

/* Return, or if a signal has come never. */
void stop_wait(void);

#endif
