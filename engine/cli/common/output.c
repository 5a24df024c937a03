/* SPDX-License-Identifier: BSD-2-Clause
 * A file or directory that appears at its path whole or not at all. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "progress.h"
#include "stop.h"

#define NAME_BYTES 255
#define TEMP_EXTRA (sizeof("..ffffff.zrtmp") - 1)
#define TRIES 100

/* "dir/name" -> "dir/.name.TAG.zrtmp". The name is cut to `keep` bytes or some
 * fewer, to whole characters. */
static char *temp_path(const char *path, size_t keep)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	unsigned tag;
	char *temp;

	if (getrandom(&tag, sizeof(tag), GRND_NONBLOCK) != sizeof(tag))
		tag = (unsigned)clock() ^ (unsigned)getpid();
	if (strlen(name) > keep)
		while (keep && ((unsigned char)name[keep] & 0xc0) == 0x80)
			keep--;
	if (asprintf(&temp, "%.*s.%.*s.%06x.zrtmp", (int)(name - path), path,
		     (int)keep, name, tag & 0xffffffu) < 0)
		return NULL;
	return temp;
}

static int make(struct output *o)
{
	if (!o->dir)
		o->fd = open(o->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
			     0666);
	else if (!mkdir(o->temp, 0777))
		o->fd = open(o->temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return o->fd < 0 ? -errno : 0;
}

/* Where names are shorter, the one of the path may just fit. */
static int make_temp(struct output *o)
{
	size_t keep = NAME_BYTES - TEMP_EXTRA;
	int rc = -EEXIST;

	for (int i = 0; i < TRIES; i++) {
		free(o->temp);
		o->temp = temp_path(o->path, keep);
		if (!o->temp)
			return -ENOMEM;
		rc = make(o);
		if (rc == -ENAMETOOLONG && keep)
			keep /= 2;
		else if (rc != -EEXIST)
			break;
	}
	return rc;
}

int output_start(struct output *o, const char *path, bool dir)
{
	size_t len = strlen(path);
	struct stat st;
	int rc;

	memset(o, 0, sizeof(*o));
	o->fd = -1;
	o->dir = dir;
	while (len > 1 && path[len - 1] == '/')
		len--;
	o->path = strndup(path, len);
	if (!o->path)
		return cli_fail("no memory");
	if (!lstat(o->path, &st)) {
		cli_fail("%s: exists already", path);
		free(o->path);
		return CLI_FAILED;
	}
	stop_hold();
	rc = make_temp(o);
	stop_release(rc ? NULL : o->temp);
	if (!rc)
		return CLI_OK;
	cli_fail("%s: making a new %s beside it: %s", path,
		 dir ? "directory" : "file", strerror(-rc));
	free(o->temp);
	free(o->path);
	return CLI_FAILED;
}

/* Takes the name with something empty, which fails if it is taken. */
static int claim(const struct output *o)
{
	int fd;

	if (o->dir)
		return mkdir(o->path, 0777);
	fd = open(o->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return fd < 0 ? -1 : close(fd);
}

/* From here on it is as a container is published (engine/write/build.c), for
 * files and other directories: all that both may use is zrecord.h, and to
 * publish what is no container is no matter of the library.
 *
 * Without RENAME_NOREPLACE a link takes the name, which fails if it is taken,
 * or without those something empty, which the rename replaces. Where a rename
 * does not replace even that (rclone), it replaces nothing. */
static int rename_over_claim(const struct output *o)
{
	struct stat st;

	if (!o->dir && !link(o->temp, o->path)) {
		unlink(o->temp);
		return 0;
	}
	if (claim(o))
		return -errno;
	if (!rename(o->temp, o->path))
		return 0;
	if ((o->dir ? rmdir(o->path) : unlink(o->path)) ||
	    !lstat(o->path, &st))
		return -EEXIST;
	return rename(o->temp, o->path) ? -errno : 0;
}

static int rename_new(const struct output *o)
{
	if (!renameat2(AT_FDCWD, o->temp, AT_FDCWD, o->path, RENAME_NOREPLACE))
		return 0;
	switch (errno) {
	case EINVAL:
	case ENOSYS:
	case EOPNOTSUPP:
	case EPERM: /* of a sandbox that does not know it */
		return rename_over_claim(o);
	default:
		return -errno;
	}
}

/* Not every file system can; what a disk or a server refuses is an error. */
static int sync_all(const struct output *o)
{
	/* One sync for all files of a directory. */
	if (!(o->dir ? syncfs(o->fd) : fsync(o->fd)))
		return 0;
	switch (errno) {
	case EINVAL:
	case ENOSYS:
	case EOPNOTSUPP:
	case ENOTTY:
	case EROFS:
	case EBADF:
	case EACCES:
	case EPERM:
		return 0;
	default:
		return -errno;
	}
}

int output_commit(struct output *o)
{
	struct progress bar;
	int rc;

	progress_busy(&bar, o->path, "writing to the disk");
	rc = sync_all(o);
	progress_end(&bar);
	/* Some servers say only here that they had no room. */
	if (close(o->fd) && errno != EINTR && !rc)
		rc = -errno;
	o->fd = -1;
	if (!rc)
		rc = rename_new(o);
	if (rc) {
		cli_fail("%s: %s", o->path,
			 rc == -EEXIST || rc == -ENOTEMPTY
				 ? "was made by someone else meanwhile"
				 : strerror(-rc));
		output_discard(o);
		return CLI_FAILED;
	}
	stop_done();
	free(o->temp);
	free(o->path);
	return CLI_OK;
}

void output_discard(struct output *o)
{
	if (o->fd >= 0)
		close(o->fd);
	stop_discard();
	free(o->temp);
	free(o->path);
}

int output_create(struct zr_writer **w, const char *dst, enum zr_kind kind,
		  const struct zr_dtype *dtype, const struct zr_shape *shape,
		  const struct zr_create_options *opt)
{
	struct zr_error err;
	int rc;

	stop_hold();
	rc = zr_create(w, dst, kind, dtype, shape, opt, &err);
	stop_release(rc ? NULL : zr_writer_path(*w));
	return rc ? cli_error(&err) : CLI_OK;
}

int output_publish(struct zr_writer *w, const char *dst)
{
	struct progress bar;
	struct zr_error err;
	int rc;

	progress_busy(&bar, dst, "writing to the disk");
	rc = zr_publish(w, &err);
	progress_end(&bar);
	stop_done();
	return rc ? cli_error(&err) : CLI_OK;
}

void output_abandon(struct zr_writer *w)
{
	zr_discard(w);
	stop_done();
}
