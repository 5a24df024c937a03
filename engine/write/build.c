/* SPDX-License-Identifier: BSD-2-Clause
 * A build lies in a hidden directory and appears at its path at once
 * (FORMAT.md F8). */
#include "build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io.h"
#include "format/sums.h"

#define NAME_BYTES 255 /* of a file name, on every Linux file system */
#define TEMP_EXTRA (sizeof("..ffffff.zrtmp") - 1)
#define TRIES 100

/* Split `path` at its last component; trailing slashes do not count. */
static int split(struct zr_build *b, const char *path, char **parent)
{
	size_t end = strlen(path), start;

	while (end > 1 && path[end - 1] == '/')
		end--;
	start = end;
	while (start && path[start - 1] != '/')
		start--;
	b->stem = start;
	b->name = strndup(path + start, end - start);
	*parent = start ? strndup(path, start) : strdup(".");
	return b->name && *parent ? 0 : -ENOMEM;
}

static unsigned random_tag(void)
{
	struct timespec now;
	unsigned tag;

	if (getrandom(&tag, sizeof(tag), GRND_NONBLOCK) == sizeof(tag))
		return tag & 0xffffffu;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return ((unsigned)now.tv_nsec ^ (unsigned)getpid()) & 0xffffffu;
}

/* How much of the name the hidden one has room for, in whole characters: some
 * file systems take only UTF-8. */
static int name_kept(const char *name, size_t most)
{
	size_t len = strlen(name);

	if (len <= most)
		return (int)len;
	while (most && ((unsigned char)name[most] & 0xc0) == 0x80)
		most--;
	return (int)most;
}

static int make_temp(struct zr_build *b, struct zr_error *err)
{
	int keep = name_kept(b->name, NAME_BYTES - TEMP_EXTRA);
	int failed = EIO; /* TRIES names taken: that is no chance */

	for (int i = 0; i < TRIES; i++) {
		if (asprintf(&b->temp, ".%.*s.%06x.zrtmp", keep, b->name,
			     random_tag()) < 0) {
			b->temp = NULL;
			return zr_fail(err, -ENOMEM, b->path, "no memory");
		}
		if (!mkdirat(b->parent, b->temp, 0777))
			return 0;
		failed = errno == EEXIST ? EIO : errno;
		free(b->temp);
		b->temp = NULL;
		/* Where names are shorter, the one of the path may just fit. */
		if (failed == ENAMETOOLONG && keep)
			keep = name_kept(b->name, (size_t)keep / 2);
		else if (failed != EIO)
			break;
	}
	return zr_fail_sys(err, failed, b->path,
			   "making a directory beside it");
}

static int make_file(struct zr_build *b, const char *name, int *fd,
		     struct zr_error *err)
{
	*fd = openat(b->dir, name,
		     O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (*fd < 0)
		return zr_fail_sys(err, errno, b->path, name);
	return 0;
}

int zr_build_start(struct zr_build *b, const char *path, struct zr_error *err)
{
	char *parent = NULL;
	struct stat st;
	int rc;

	b->parent = b->dir = b->meta_fd = b->data_fd = -1;
	b->path = strdup(path);
	if (!b->path || split(b, path, &parent)) {
		free(parent);
		return zr_fail(err, -ENOMEM, path, "no memory");
	}
	if (!b->name[0] || !strcmp(b->name, ".") || !strcmp(b->name, "..") ||
	    !strcmp(b->name, "/")) {
		free(parent);
		return zr_fail(err, -EINVAL, path, "names no new directory");
	}
	b->parent = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(parent);
	if (b->parent < 0)
		return zr_fail_sys(err, errno, path,
				   "opening its parent directory");
	if (!fstatat(b->parent, b->name, &st, AT_SYMLINK_NOFOLLOW))
		return zr_fail(err, -EEXIST, path, "exists already");
	if (errno != ENOENT)
		return zr_fail_sys(err, errno, path, "looking it up");
	rc = make_temp(b, err);
	if (rc)
		return rc;
	if (asprintf(&b->temp_path, "%.*s%s", (int)b->stem, path, b->temp) <
	    0) {
		b->temp_path = NULL;
		return zr_fail(err, -ENOMEM, path, "no memory");
	}
	b->dir = openat(b->parent, b->temp,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (b->dir < 0)
		return zr_fail_sys(err, errno, path, "opening the new files");
	rc = make_file(b, "meta.zr", &b->meta_fd, err);
	/* Tells readers and `recover` that the build is alive; a file system
	 * without locks has none to tell. */
	if (!rc)
		(void)flock(b->meta_fd, LOCK_EX | LOCK_NB);
	return rc ? rc : make_file(b, "data.zr", &b->data_fd, err);
}

static bool taken(const struct zr_build *b)
{
	struct stat st;

	return !fstatat(b->parent, b->name, &st, AT_SYMLINK_NOFOLLOW) ||
	       errno != ENOENT;
}

/* Without RENAME_NOREPLACE (some network file systems): take the name with an
 * empty directory, which fails if it is taken, and replace that. Only here a
 * process that is killed in between leaves something at the path. Where a
 * rename replaces not even that (rclone), it replaces nothing. */
static int rename_over_claim(struct zr_build *b)
{
	if (mkdirat(b->parent, b->name, 0777))
		return -errno;
	if (!renameat(b->parent, b->temp, b->parent, b->name))
		return 0;
	if (unlinkat(b->parent, b->name, AT_REMOVEDIR) || taken(b))
		return -EEXIST;
	return renameat(b->parent, b->temp, b->parent, b->name) ? -errno : 0;
}

static int rename_into_place(struct zr_build *b)
{
	if (!renameat2(b->parent, b->temp, b->parent, b->name,
		       RENAME_NOREPLACE))
		return 0;
	switch (errno) {
	case EINVAL:
	case ENOSYS:
	case EOPNOTSUPP:
	case EPERM: /* of a sandbox that does not know it */
		return rename_over_claim(b);
	default:
		return -errno;
	}
}

int zr_build_commit(struct zr_build *b, struct zr_error *err)
{
	int rc = zr_sync(b->data_fd);

	if (!rc)
		rc = zr_sync(b->meta_fd);
	if (!rc)
		rc = zr_sync(b->dir);
	if (rc)
		return zr_fail_sys(err, -rc, b->path, "syncing");
	/* Readers may come from the rename on, also while a child has the file
	 * open; whoever tidies up must still see that the build is alive. */
	(void)flock(b->meta_fd, LOCK_SH | LOCK_NB);
	rc = rename_into_place(b);
	if (rc == -EEXIST || rc == -ENOTEMPTY)
		return zr_fail(err, -EEXIST, b->path,
			       "was made by someone else meanwhile");
	if (rc)
		return zr_fail_sys(err, -rc, b->path, "renaming into place");
	rc = zr_sync(b->parent);
	if (rc) {
		rc = zr_fail_sys(err, -rc, b->path, "syncing its directory");
		/* Not known to be on disk: take it back, so that it can be
		 * removed; the hidden name is ours alone. */
		if (!renameat(b->parent, b->name, b->parent, b->temp))
			return rc;
	}
	free(b->temp);
	b->temp = NULL;
	return rc;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void zr_build_end(struct zr_build *b, bool remove)
{
	/* Some file systems do not remove a file that is open, or keep it under
	 * another name meanwhile. */
	close_fd(b->data_fd);
	close_fd(b->meta_fd);
	if (remove && b->temp) {
		if (b->dir >= 0) {
			unlinkat(b->dir, "meta.zr", 0);
			unlinkat(b->dir, "data.zr", 0);
			unlinkat(b->dir, "dict.zr", 0);
			unlinkat(b->dir, ZR_SUMS_NAME, 0);
			unlinkat(b->dir, ZR_DIMS_NAME, 0);
		}
		unlinkat(b->parent, b->temp, AT_REMOVEDIR);
	}
	close_fd(b->dir);
	close_fd(b->parent);
	free(b->temp_path);
	free(b->temp);
	free(b->name);
	free(b->path);
}
