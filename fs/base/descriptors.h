/* SPDX-License-Identifier: BSD-2-Clause
 * The descriptors that a process was started with. */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#include <stddef.h>

/* Return N if `path` is, or begins with, /dev/fd/N or /proc/self/fd/N; else
 * -1. */
int descriptor_in(const char *path);

/* Close all from `first` on but the `n` in `keep`, of which -1 is none. */
void descriptors_close(int first, const int *keep, size_t n);

#endif
