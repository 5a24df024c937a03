/* SPDX-License-Identifier: BSD-2-Clause
 * -o readahead_kb: how far ahead of a reader the kernel reads.
 *
 * Not more than its default unless asked: a window that is good for streams of
 * large files makes each page of a file that is mapped and read at random cost
 * as much. */
#ifndef READAHEAD_H
#define READAHEAD_H

/* Open the setting of the mount of this device: major, minor; while files can
 * be opened. Returns a descriptor, or -1. */
int readahead_open(const unsigned device[static 2]);

/* Set the window to so many KiB, unless 0, once INIT is answered, which sets it
 * too; close the descriptor. Returns the window in KiB, 0 if it is not known.
 * Only root may set it. */
unsigned readahead_set(int fd, unsigned kib);

#endif
