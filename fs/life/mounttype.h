/* SPDX-License-Identifier: BSD-2-Clause
 * The type of a mount, from statmount(2). */
#ifndef MOUNTTYPE_H
#define MOUNTTYPE_H

#include <stddef.h>
#include <sys/stat.h>

/* Ask statx(2) for this too, so that its answer has the number by which
 * statmount(2) knows the mount. */
#define MOUNTTYPE_ID 0x4000u

/* Write the type of the mount that the answer is about, as /proc/self/mountinfo
 * has it; "" if the kernel does not tell (before Linux 6.13). */
void mounttype_of(const struct statx *st, char *type, size_t room);

#endif
