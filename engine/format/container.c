/* SPDX-License-Identifier: BSD-2-Clause
 * Opening a container: everything that concerns it as a whole is checked
 * here, once (FORMAT.md F7). */
#include "container.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/io.h"
#include "base/le.h"
#include "generation.h"

#define OPEN_FLAGS                                                             \
	(ZR_OPEN_UNPUBLISHED | ZR_OPEN_RECOVER | ZR_OPEN_CHECK |               \
	 ZR_OPEN_NO_CHECKSUMS)

static char *join(const char *dir, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return NULL;
	return path;
}

/* 1 if there is dir/name of whatever type, 0 if not, or an error. */
static int has_file(int dir, const char *name, const char *path,
		    struct zr_error *err)
{
	struct stat st;

	if (!fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return 1;
	return errno == ENOENT ? 0 : zr_fail_sys(err, errno, path, name);
}

/* A file that is not there makes the container malformed. */
static int no_file(int error, int dir, const char *name, const char *path,
		   struct zr_error *err)
{
	if (error == ENOENT && has_file(dir, name, path, NULL) == 1)
		return zr_fail(err, -EUCLEAN, path,
			       "%s is a link to a file that is not there: "
			       "fetch it first",
			       name);
	return zr_fail(err, -EUCLEAN, path, "no %s in it: not a %s", name,
		       strcmp(name, "meta.zr")
			       ? "whole container"
			       : "container; `zrecord create` makes one of a "
				 "folder of .npy");
}

/* Open dir/name for reading if it is a regular file. O_NONBLOCK: a FIFO must
 * not hold us. */
static int open_file(int dir, const char *name, const char *path,
		     struct stat *st, int *out, struct zr_error *err)
{
	int fd =
		openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 && (errno == ENOENT || errno == ENXIO))
		return no_file(errno, dir, name, path, err);
	if (fd < 0)
		return zr_fail_sys(err, errno, path, name);
	*out = fd;
	if (fstat(fd, st))
		return zr_fail_sys(err, errno, path, name);
	if (!S_ISREG(st->st_mode))
		return zr_fail(err, -EUCLEAN, path, "%s is not a regular file",
			       name);
	return 0;
}

/* Read all `len` bytes at `off` into new memory. */
static int read_new(int fd, uint64_t off, uint64_t len, const char *path,
		    const char *what, unsigned char **out, struct zr_error *err)
{
	unsigned char *p;
	int rc;

	if (!zr_fits_size(len) || !(p = malloc(len ? (size_t)len : 1)))
		return zr_fail(err, -ENOMEM, path, "no memory for %s", what);
	rc = zr_pread(fd, p, (size_t)len, off);
	if (rc) {
		free(p);
		return zr_fail_sys(err, rc == -ENODATA ? EIO : -rc, path, what);
	}
	*out = p;
	return 0;
}

/* A writer holds an exclusive lock while it builds. File systems without
 * locks have no busy containers to tell. */
static int lock_shared(int fd, const char *path, struct zr_error *err)
{
	if (flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK)
		return zr_fail(err, -EBUSY, path, "busy: a writer holds it");
	return 0;
}

/* The header is not of this form: that it breaks the rules is no damage if
 * another version of loaderx makes it so. Returns `rc` if none does. */
static int name_generation(const struct zr_container *c, int dir,
			   const unsigned char *head, int rc,
			   struct zr_error *err)
{
	bool sharded = has_file(dir, "data_0.zr", c->path, NULL) == 1;
	enum zr_generation g = zr_generation_of(head, sharded);

	if (rc != -EUCLEAN || g == ZR_G1)
		return rc;
	return zr_fail(err, -ENOTSUP, c->path,
		       "is a container of loaderx %s; that is no damage, but "
		       "only those of loaderx %s are read: save its arrays as "
		       ".npy with the loaderx it is of, then `zrecord create`",
		       zr_generation_writers(g), zr_generation_writers(ZR_G1));
}

/* The header of a build that was not finished says 0 records; its table has
 * those that were written (F8). */
static bool never_published(const struct zr_container *c, uint64_t meta_size,
			    uint64_t data_size)
{
	return !c->meta.length && !c->meta.tail_offset &&
	       (meta_size > ZR_META_TABLE || data_size);
}

/* As many records and bytes as the files have, if the header claims none, or
 * more than there are. */
static void take_what_is_there(struct zr_container *c, uint64_t meta_size,
			       uint64_t data_size)
{
	uint64_t entries = (meta_size - ZR_META_TABLE) / ZR_ENTRY_BYTES;

	if (!c->info.published || c->meta.length > entries)
		c->meta.length = entries;
	if (!c->info.published)
		c->header_tail = UINT64_MAX;
	if (!c->info.published || c->meta.tail_offset > data_size)
		c->meta.tail_offset = data_size;
}

static int open_meta(struct zr_container *c, int dir, uint32_t flags,
		     struct stat *st, struct zr_error *err)
{
	unsigned char head[ZR_META_TABLE];
	uint64_t size, entries;
	int rc;

	rc = open_file(dir, "meta.zr", c->path, st, &c->meta_fd, err);
	if (!rc)
		rc = lock_shared(c->meta_fd, c->path, err);
	if (rc)
		return rc;
	size = (uint64_t)st->st_size;
	if (size < ZR_META_TABLE)
		return zr_fail_at(err, -EUCLEAN, c->path,
				  (struct zr_facts){ ZR_NONE, ZR_NONE,
						     ZR_META_TABLE, size },
				  "meta.zr has %llu bytes, expected at least "
				  "%d",
				  (unsigned long long)size, ZR_META_TABLE);
	rc = zr_pread(c->meta_fd, head, sizeof(head), 0);
	if (rc)
		return zr_fail_sys(err, rc == -ENODATA ? EIO : -rc, c->path,
				   "reading meta.zr");
	c->head_hash = zr_hash(head, sizeof(head));
	rc = zr_meta_decode(&c->meta, head, c->path, err);
	if (rc)
		return name_generation(c, dir, head, rc, err);
	c->header_tail = c->meta.tail_offset;
	entries = (size - ZR_META_TABLE) / ZR_ENTRY_BYTES;
	if (c->meta.length > entries && !(flags & ZR_OPEN_RECOVER))
		return zr_fail_at(
			err, -EUCLEAN, c->path,
			(struct zr_facts){ ZR_NONE, 0, entries,
					   c->meta.length },
			"meta.zr says %llu records, and has entries of %llu; "
			"for what is left see `zrecord recover`",
			(unsigned long long)c->meta.length,
			(unsigned long long)entries);
	return 0;
}

static int open_table(struct zr_container *c, struct zr_error *err)
{
	return read_new(c->meta_fd, ZR_META_TABLE,
			c->meta.length * ZR_ENTRY_BYTES, c->path, "the table",
			&c->table, err);
}

static int open_data(struct zr_container *c, int dir, uint32_t flags,
		     uint64_t *size, struct zr_error *err)
{
	struct stat st;
	int rc = open_file(dir, "data.zr", c->path, &st, &c->data_fd, err);

	if (rc)
		return rc;
	*size = (uint64_t)st.st_size;
	if (c->meta.tail_offset > *size && !(flags & ZR_OPEN_RECOVER))
		return zr_fail_at(
			err, -EUCLEAN, c->path,
			(struct zr_facts){ ZR_NONE, 8, *size,
					   c->meta.tail_offset },
			"data.zr has %llu bytes, expected at least %llu; for "
			"what is left see `zrecord recover`",
			(unsigned long long)*size,
			(unsigned long long)c->meta.tail_offset);
	return 0;
}

static int open_dict(struct zr_container *c, int dir, struct zr_error *err)
{
	unsigned char *dict = NULL;
	struct stat st;
	int fd = -1, rc;

	if (c->meta.codec != ZR_ZSTD_DICT) {
		rc = has_file(dir, "dict.zr", c->path, err);
		if (rc <= 0)
			return rc;
		return zr_fail(err, -EUCLEAN, c->path,
			       "has a dict.zr, which its codec does not use");
	}
	rc = open_file(dir, "dict.zr", c->path, &st, &fd, err);
	if (!rc && (st.st_size == 0 || (uint64_t)st.st_size > ZR_DICT_MAX))
		rc = zr_fail(err, -EUCLEAN, c->path,
			     "dict.zr has %lld bytes, which no dictionary has",
			     (long long)st.st_size);
	if (!rc)
		rc = read_new(fd, 0, (uint64_t)st.st_size, c->path, "dict.zr",
			      &dict, err);
	if (!rc) {
		rc = zr_decode_dict_new(&c->dict, dict, (size_t)st.st_size);
		if (rc)
			zr_fail(err, rc, c->path,
				rc == -ENOMEM ? "no memory for the dictionary"
					      : "dict.zr is not a usable zstd "
						"dictionary");
	}
	if (!rc) {
		c->info.dict_bytes = (uint64_t)st.st_size;
		c->dict_hash = zr_hash(dict, (size_t)st.st_size);
	}
	free(dict);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* The sidecar is ours alone; most containers of loaderx have none. */
static int open_sums(struct zr_container *c, int dir, struct zr_error *err)
{
	struct stat st;
	int fd = -1, rc;

	rc = has_file(dir, ZR_SUMS_NAME, c->path, err);
	if (rc <= 0)
		return rc;
	rc = open_file(dir, ZR_SUMS_NAME, c->path, &st, &fd, err);
	if (!rc)
		rc = zr_sums_read(&c->sums, fd, (uint64_t)st.st_size, &c->meta,
				  c->head_hash, c->dict_hash, c->path, err);
	if (!rc)
		c->info.checksums = true;
	if (fd >= 0)
		close(fd);
	return rc;
}

static void describe(struct zr_container *c, const struct stat *meta_st)
{
	struct zr_info *info = &c->info;

	info->kind = c->meta.kind;
	info->codec = c->meta.codec;
	info->dtype = c->meta.dtype;
	info->item_shape = c->meta.item_shape;
	info->record_bytes = c->meta.record_bytes;
	info->records = c->meta.length;
	info->stored_bytes = c->meta.tail_offset;
	info->mtime_sec = (int64_t)meta_st->st_mtim.tv_sec;
	info->mtime_nsec = (uint32_t)meta_st->st_mtim.tv_nsec;
}

static int place_data(struct zr_container *c, enum zr_placement placement,
		      struct zr_error *err)
{
	int rc = zr_data_place(&c->data, c->data_fd, c->meta.tail_offset,
			       placement);

	if (!rc)
		return 0;
	return zr_fail_sys(err, rc == -ENODATA ? EIO : -rc, c->data_path,
			   "mapping or reading it");
}

static int open_failed(const char *path, int errnum, struct zr_error *err)
{
	if (errnum == ENOTDIR && !access(path, F_OK))
		return zr_fail(err, -ENOTDIR, path,
			       "Not a directory, and so no container; "
			       "`zrecord create` makes one of arrays or lines");
	return zr_fail_sys(err, errnum, path, "opening");
}

static int open_parts(struct zr_container *c, const struct zr_open_options *opt,
		      struct zr_error *err)
{
	uint64_t data_size;
	struct stat st;
	int dir, rc;

	dir = open(c->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return open_failed(c->path, errno, err);
	rc = open_meta(c, dir, opt->flags, &st, err);
	if (!rc)
		rc = open_data(c, dir, opt->flags, &data_size, err);
	if (!rc)
		rc = open_dict(c, dir, err);
	if (!rc)
		c->info.published =
			!never_published(c, (uint64_t)st.st_size, data_size);
	if (!rc && c->info.published && !(opt->flags & ZR_OPEN_NO_CHECKSUMS))
		rc = open_sums(c, dir, err);
	close(dir);
	if (rc)
		return rc;
	c->check = c->info.checksums && (opt->flags & ZR_OPEN_CHECK);
	if (opt->flags & ZR_OPEN_RECOVER) {
		take_what_is_there(c, (uint64_t)st.st_size, data_size);
	} else if (!c->info.published && !(opt->flags & ZR_OPEN_UNPUBLISHED)) {
		return zr_fail(err, -ENODATA, c->path,
			       "never published: its writer did not finish; "
			       "see `zrecord recover`");
	}
	describe(c, &st);
	rc = open_table(c, err);
	if (rc)
		return rc;
	return place_data(c, opt->placement, err);
}

int zr_open(struct zr_container **out, const char *path,
	    const struct zr_open_options *opt, struct zr_error *err)
{
	static const struct zr_open_options none = ZR_OPEN_OPTIONS_INIT;
	struct zr_container *c;
	int rc;

	*out = NULL;
	if (!opt)
		opt = &none;
	if (!path || opt->size != sizeof(*opt) || (opt->flags & ~OPEN_FLAGS) ||
	    (unsigned)opt->placement > ZR_PLACE_READ)
		return zr_fail(err, -EINVAL, NULL,
			       "no path, unknown flag or placement, or "
			       "options of another version");
	c = calloc(1, sizeof(*c));
	if (!c)
		return zr_fail(err, -ENOMEM, path, "no memory");
	c->meta_fd = c->data_fd = -1;
	c->path = strdup(path);
	c->data_path = join(path, "data.zr");
	c->disk = calloc(1, sizeof(*c->disk));
	if (!c->path || !c->data_path || !c->disk)
		rc = zr_fail(err, -ENOMEM, path, "no memory");
	else
		rc = open_parts(c, opt, err);
	if (rc) {
		zr_close(c);
		return rc;
	}
	*out = c;
	return 0;
}

void zr_close(struct zr_container *c)
{
	if (!c)
		return;
	zr_data_release(&c->data);
	zr_sums_free(&c->sums);
	zr_decode_dict_free(c->dict);
	free(c->table);
	if (c->data_fd >= 0)
		close(c->data_fd);
	if (c->meta_fd >= 0)
		close(c->meta_fd);
	free(c->disk);
	free(c->data_path);
	free(c->path);
	free(c);
}

const struct zr_info *zr_info(const struct zr_container *c)
{
	return &c->info;
}
