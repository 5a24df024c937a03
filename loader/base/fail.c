/* SPDX-License-Identifier: BSD-2-Clause
 * Error codes to text, and the details of an error for the caller. */
#include "fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

const char *zl_strerror(int code)
{
	switch (code) {
	case -ESTALE:
		return "state does not fit";
	case -ECANCELED:
		return "loader was stopped";
	case -ECHILD:
		return "loader belongs to another process";
	case -EAGAIN:
		return "a thread could not be started";
	case -EDEADLK:
		return "called from the loader's own callback";
	case -EBUSY:
		return "another thread is in a call of the loader";
	default:
		return zr_strerror(code);
	}
}

static void clear(struct zl_error *err, int code)
{
	err->code = code;
	err->step = ZL_NONE;
	err->record = ZL_NONE;
	err->stream[0] = '\0';
}

int zl_fail(struct zl_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	clear(err, code);
	va_start(ap, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	for (char *p = err->message; *p; p++)
		if (*p == '\n' || *p == '\r')
			*p = '?';
	return code;
}

int zl_fail_callback(struct zl_error *err, int returned, uint64_t step,
		     const char *what)
{
	int code = returned < 0 ? returned : -EINVAL;

	zl_fail(err, code, "step %llu: the %s returned %d%s",
		(unsigned long long)step, what, returned,
		returned < 0 ? "" : ", 0 or a negative number expected");
	if (err)
		err->step = step;
	return code;
}
