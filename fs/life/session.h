/* SPDX-License-Identifier: BSD-2-Clause
 * The room life: the driver from its start to its end: mounting, the
 * background, rights, signals, unmounting.
 *
 * One FUSE session: mount, first request, loop, unmount. */
#ifndef SESSION_H
#define SESSION_H

#include "daemon.h"
#include "tree/mount.h"

/* Mount m->stream, which comes from the container at the absolute path
 * `source`, on the absolute path `mountpoint`, report to `d`, and serve until
 * it is unmounted. Returns an exit status after saying what went wrong;
 * nothing stays mounted then. */
int session_run(struct mount *m, struct daemon *d, const char *source,
		const char *mountpoint);

#endif
