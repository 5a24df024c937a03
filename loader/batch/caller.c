/* SPDX-License-Identifier: BSD-2-Clause */
#include "caller.h"

#include <unistd.h>

bool zl_forked(const struct zl_loader *l)
{
	pid_t pid = __atomic_load_n(&l->pid, __ATOMIC_RELAXED);

	return pid && pid != getpid();
}
