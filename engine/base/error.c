/* SPDX-License-Identifier: BSD-2-Clause
 * Error codes to text, and the details of an error for the caller. */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STRINGIFY_(x) #x
#define STRINGIFY(x) STRINGIFY_(x)

const char *zr_version(void)
{
	return STRINGIFY(ZR_VERSION_MAJOR) "." STRINGIFY(
		ZR_VERSION_MINOR) "." STRINGIFY(ZR_VERSION_PATCH);
}

const char *zr_codec_name(enum zr_codec codec)
{
	static const char *const names[] = { "raw", "zstd", "zstd_dict" };

	return (unsigned)codec < 3 ? names[codec] : NULL;
}

static const struct {
	int code;
	const char *text;
} codes[] = {
	{ 0, "success" },
	{ -EUCLEAN, "not a valid container" },
	{ -EBADMSG, "damaged record" },
	{ -ENODATA, "never published: its writer did not finish" },
	{ -EBUSY, "busy: a writer holds it" },
	{ -ERANGE, "no such record, or too little room" },
	{ -EINVAL, "invalid argument" },
	{ -ENOTSUP, "not supported" },
	{ -EEXIST, "exists already" },
	{ -ENOMEM, "out of memory" },
	{ -EIO, "input/output error" },
	{ -ENOSPC, "no space left on device" },
	{ -EDQUOT, "disk quota exceeded" },
	{ -EFBIG, "file too large" },
	{ -EROFS, "read-only file system" },
	{ -ENOENT, "no such file or directory" },
	{ -ENOTDIR, "not a directory" },
	{ -EACCES, "permission denied" },
	{ -EPERM, "operation not permitted" },
	{ -ELOOP, "too many symbolic links" },
	{ -ENAMETOOLONG, "file name too long" },
	{ -EMFILE, "too many open files" },
	{ -ENFILE, "too many open files in the system" },
};

static const char *known(int code)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].code == code)
			return codes[i].text;
	return NULL;
}

const char *zr_strerror(int code)
{
	const char *text = known(code);

	return text ? text : "unknown error";
}

/* A path that is too long keeps its end, which tells more than its start. */
static void copy_path(char *dst, size_t size, const char *path)
{
	size_t len = strlen(path);

	if (len < size) {
		memcpy(dst, path, len + 1);
		return;
	}
	memcpy(dst, "...", 3);
	memcpy(dst + 3, path + len - (size - 4), size - 3);
}

__attribute__((format(printf, 5, 0))) static void
fill(struct zr_error *err, int code, const char *path,
     const struct zr_facts *facts, const char *fmt, va_list ap)
{
	size_t at = 0;

	err->code = code;
	err->record = facts ? facts->record : ZR_NONE;
	err->offset = facts ? facts->offset : ZR_NONE;
	err->expected = facts ? facts->expected : ZR_NONE;
	err->found = facts ? facts->found : ZR_NONE;
	err->path[0] = '\0';
	if (path) {
		copy_path(err->path, sizeof(err->path), path);
		at = (size_t)snprintf(err->message, sizeof(err->message),
				      "%s: ", err->path);
	}
	vsnprintf(err->message + at, sizeof(err->message) - at, fmt, ap);
	/* A path may hold a newline; a message may not. */
	for (char *p = err->message; *p; p++)
		if (*p == '\n' || *p == '\r')
			*p = '?';
}

int zr_fail(struct zr_error *err, int code, const char *path, const char *fmt,
	    ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		fill(err, code, path, NULL, fmt, ap);
		va_end(ap);
	}
	return code;
}

int zr_fail_at(struct zr_error *err, int code, const char *path,
	       struct zr_facts facts, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		fill(err, code, path, &facts, fmt, ap);
		va_end(ap);
	}
	return code;
}

int zr_fail_sys(struct zr_error *err, int errnum, const char *path,
		const char *doing)
{
	int code = known(-errnum) ? -errnum : -EIO;

	return zr_fail(err, code, path, "%s: %s", doing, strerror(errnum));
}
