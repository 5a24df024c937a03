/* SPDX-License-Identifier: BSD-2-Clause */
#include "caller.h"

#include <errno.h>
#include <unistd.h>

#include "base/fail.h"

static _Thread_local const struct zl_loader *works_for;

bool zl_forked(const struct zl_loader *l)
{
	pid_t pid = __atomic_load_n(&l->pid, __ATOMIC_RELAXED);

	return pid && pid != getpid();
}

void zl_work_for(const struct zl_loader *l)
{
	works_for = l;
}

bool zl_in_callback(const struct zl_loader *l)
{
	return works_for == l;
}

int zl_may_wait(const struct zl_loader *l, struct zl_error *err)
{
	if (zl_forked(l))
		return zl_fail(err, -ECHILD,
			       "the loader's threads are in the process that "
			       "forked this one: open a loader here");
	if (zl_in_callback(l))
		return zl_fail(err, -EDEADLK,
			       "a callback of the loader cannot wait for it: "
			       "call from another thread");
	return 0;
}
