/* SPDX-License-Identifier: BSD-2-Clause
 * The operation table, and the operations that need no file of their own. */
#include "ops.h"

#include <errno.h>
#include <sys/statvfs.h>

#include "attr.h"
#include "base/name.h"
#include "dir.h"
#include "files/worker.h"
#include "open.h"
#include "read.h"
#include "tree/gather.h"
#include "xattr.h"

#define STATFS_BLOCK 4096
/* Requests that the kernel sends ahead of a reader; its default is 12. */
#define BACKGROUND_MAX 64

static void op_init(void *data, struct fuse_conn_info *conn)
{
	struct mount *m = data;

	conn->want |= conn->capable &
		      (FUSE_CAP_READDIRPLUS | FUSE_CAP_EXPORT_SUPPORT |
		       FUSE_CAP_ASYNC_READ | FUSE_CAP_EXPLICIT_INVAL_DATA);
	/* A copy costs less than a pipe; contents never change; which files a
	 * listing tells is for dir.c to say, not for the kernel. */
	conn->want &=
		~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
			    FUSE_CAP_SPLICE_MOVE | FUSE_CAP_AUTO_INVAL_DATA |
			    FUSE_CAP_READDIRPLUS_AUTO);
	m->plus_always =
		(conn->want & FUSE_CAP_READDIRPLUS) && dir_tells_all(m);
	conn->max_background = BACKGROUND_MAX;
	conn->congestion_threshold = BACKGROUND_MAX * 3 / 4;
	m->no_open = !m->opt->verify_open && m->opt->cache == CACHE_PAGE &&
		     (conn->capable & FUSE_CAP_NO_OPEN_SUPPORT);
	/* fusermount3 opens the mount to see that the driver died: with
	 * auto_unmount the kernel must not do that by itself. */
	m->no_opendir = !m->opt->auto_unmount &&
			(conn->capable & FUSE_CAP_NO_OPENDIR_SUPPORT);
}

static void forget(struct mount *m, uint64_t ino, uint64_t lookups)
{
	struct node n;

	if (tree_node(ino, &n) && n.kind == NODE_GATHER)
		gather_drop(m->gathers, n.index, lookups);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct mount *m = fuse_req_userdata(req);
	struct fuse_entry_param e = { .entry_timeout = FOREVER,
				      .attr_timeout = FOREVER };
	struct node dir, child;
	int rc = attr_node(m, parent, &dir);

	count_request(m, REQUEST_LOOKUP);
	if (!rc)
		rc = attr_lookup(m, &dir, name, &child);
	if (!rc) {
		rc = attr_get(m, &child, &e.attr);
		if (rc)
			forget(m, tree_ino(&child), 1);
	}
	if (rc && rc != -ENOENT) {
		fuse_reply_err(req, errno_of(rc));
		return;
	}
	/* Number 0 lets the kernel remember that there is no such name. */
	if (!rc) {
		e.ino = e.attr.st_ino;
		e.generation = 1;
		dir_looked_up(m, &child);
	}
	/* The kernel does not take it if the caller was interrupted. */
	if (fuse_reply_entry(req, &e) == -ENOENT && e.ino)
		forget(m, e.ino, 1);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino,
		       struct fuse_file_info *fi)
{
	struct mount *m = fuse_req_userdata(req);
	struct node n;
	struct stat st;
	int rc = attr_node(m, ino, &n);

	(void)fi;
	count_request(m, REQUEST_GETATTR);
	if (!rc)
		rc = attr_get(m, &n, &st);
	if (rc)
		fuse_reply_err(req, errno_of(rc));
	else
		fuse_reply_attr(req, &st, FOREVER);
}

static void op_opendir(fuse_req_t req, fuse_ino_t ino,
		       struct fuse_file_info *fi)
{
	struct mount *m = fuse_req_userdata(req);

	(void)ino;
	count_request(m, REQUEST_OPEN);
	fi->keep_cache = 1;
	fi->cache_readdir = 1;
	if (m->no_opendir)
		fuse_reply_err(req, ENOSYS);
	else
		fuse_reply_open(req, fi);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t nlookup)
{
	forget(fuse_req_userdata(req), ino, nlookup);
	count_request(fuse_req_userdata(req), REQUEST_FORGET);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count,
			    struct fuse_forget_data *forgets)
{
	for (size_t i = 0; i < count; i++)
		forget(fuse_req_userdata(req), forgets[i].ino,
		       forgets[i].nlookup);
	count_request(fuse_req_userdata(req), REQUEST_FORGET);
	fuse_reply_none(req);
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct mount *m = fuse_req_userdata(req);
	uint64_t bytes = 0, records = 0;
	struct statvfs st;

	for (uint32_t i = 0; i < m->stream_count; i++) {
		const struct zr_info *info = m->streams[i].info;

		bytes += info->stored_bytes + info->dict_bytes;
		records += info->records;
	}
	st = (struct statvfs){
		.f_bsize = STATFS_BLOCK,
		.f_frsize = STATFS_BLOCK,
		/* With no block at all df would not show the mount. */
		.f_blocks = bytes / STATFS_BLOCK + 1,
		.f_files = records,
		.f_namemax = NAME_LENGTH_MAX,
		.f_flag = ST_RDONLY,
	};

	(void)ino;
	count_request(m, REQUEST_OTHER);
	fuse_reply_statfs(req, &st);
}

/* Changes. A mount is ro, so that the kernel refuses them; these answer when
 * someone remounts it rw. */

static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st,
		       int to_set, struct fuse_file_info *fi)
{
	(void)ino;
	(void)st;
	(void)to_set;
	(void)fi;
	fuse_reply_err(req, EROFS);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *buf,
		     size_t size, off_t off, struct fuse_file_info *fi)
{
	(void)ino;
	(void)buf;
	(void)size;
	(void)off;
	(void)fi;
	fuse_reply_err(req, EROFS);
}

static void op_create(fuse_req_t req, fuse_ino_t parent, const char *name,
		      mode_t mode, struct fuse_file_info *fi)
{
	(void)parent;
	(void)name;
	(void)mode;
	(void)fi;
	fuse_reply_err(req, EROFS);
}

static void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name,
		     mode_t mode, dev_t rdev)
{
	(void)parent;
	(void)name;
	(void)mode;
	(void)rdev;
	fuse_reply_err(req, EROFS);
}

static void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name,
		     mode_t mode)
{
	(void)parent;
	(void)name;
	(void)mode;
	fuse_reply_err(req, EROFS);
}

static void op_remove(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	(void)parent;
	(void)name;
	fuse_reply_err(req, EROFS);
}

static void op_symlink(fuse_req_t req, const char *link, fuse_ino_t parent,
		       const char *name)
{
	(void)link;
	(void)parent;
	(void)name;
	fuse_reply_err(req, EROFS);
}

static void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name,
		      fuse_ino_t newparent, const char *newname, unsigned flags)
{
	(void)parent;
	(void)name;
	(void)newparent;
	(void)newname;
	(void)flags;
	fuse_reply_err(req, EROFS);
}

static void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t newparent,
		    const char *newname)
{
	(void)ino;
	(void)newparent;
	(void)newname;
	fuse_reply_err(req, EROFS);
}

static void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t off,
			 off_t length, struct fuse_file_info *fi)
{
	(void)ino;
	(void)mode;
	(void)off;
	(void)length;
	(void)fi;
	fuse_reply_err(req, EROFS);
}

/* No access: default_permissions is always on. No release, flush, lseek, statx:
 * the kernel does without. */
static const struct fuse_lowlevel_ops table = {
	.init = op_init,
	.lookup = op_lookup,
	.getattr = op_getattr,
	.open = op_open,
	.read = op_read,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.statfs = op_statfs,
	.setattr = op_setattr,
	.write = op_write,
	.create = op_create,
	.mknod = op_mknod,
	.mkdir = op_mkdir,
	.unlink = op_remove,
	.rmdir = op_remove,
	.symlink = op_symlink,
	.rename = op_rename,
	.link = op_link,
	.fallocate = op_fallocate,
};

struct fuse_lowlevel_ops ops_table(const struct options *opt)
{
	struct fuse_lowlevel_ops ops = table;

	/* A handler costs two requests per file of every `ls -l`. */
	if (opt->xattr) {
		ops.getxattr = op_getxattr;
		ops.listxattr = op_listxattr;
	}
	return ops;
}
