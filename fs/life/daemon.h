/* SPDX-License-Identifier: BSD-2-Clause
 * Going to the background without hiding what goes wrong there.
 *
 * The child does everything; the parent waits for its word and exits with the
 * status that the child found. */
#ifndef DAEMON_H
#define DAEMON_H

#include <stdbool.h>

struct daemon {
	int pipe; /* to the parent, or -1 in the foreground */
	int null; /* what stdio will be; opened while that is allowed */
};

/* Make sure that descriptors 0, 1 and 2 are open, so that no other file gets
 * such a number. Returns 0, or -1 if that fails. */
int daemon_stdio(void);

/* Fork, unless `foreground`. Returns in the child, or in the foreground, with
 * 0; with EXIT_SYSTEM after saying why it failed. The parent does not return
 * but exits when the child reports or dies; until daemon_mounted the child gets
 * SIGTERM if the parent dies. The child has none of the descriptors above 2
 * that the caller had open, but those in `keep` (-1: none), for which a lock or
 * a disk would wait as long as the mount is there. Call it before there are
 * threads and files of ours. */
int daemon_start(struct daemon *d, bool foreground, const int keep[static 2]);

/* Leave the session of the terminal. Not before it is mounted: an automounter
 * lets only those of its own process group reach the mount point until then.
 * In the foreground it does nothing. */
void daemon_mounted(struct daemon *d);

/* Tell the parent that all is well, and let go of the terminal and of the
 * directory. Returns 0, or -1 if the parent is gone: then nobody wants what
 * was started. In the foreground it does nothing. */
int daemon_ready(struct daemon *d);

/* Tell the parent to exit with `status`, unless it was told before. */
void daemon_failed(struct daemon *d, int status);

#endif
