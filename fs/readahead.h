/* SPDX-License-Identifier: BSD-2-Clause
 * How far ahead of a reader the kernel reads: more than its default, where we
 * may say so. */
#ifndef READAHEAD_H
#define READAHEAD_H

/* The window that is asked for: what one request can hold, 256 pages. */
#define READAHEAD_KIB 1024

/* Open the setting of the mount at `mountpoint`, which is absolute and without
 * links, while files can be opened. Returns a descriptor, or -1. */
int readahead_open(const char *mountpoint);

/* Raise the window, once INIT is answered, which
 * sets it; close the descriptor. Returns the window in KiB, 0 if it is not
 * known. Only root may raise it. */
unsigned readahead_raise(int fd);

#endif
