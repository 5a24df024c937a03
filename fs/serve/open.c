/* SPDX-License-Identifier: BSD-2-Clause
 * OPEN: that nobody need ask, or with -o verify=open whether the file is good.
 */
#include "open.h"

#include <errno.h>

#include "attr.h"
#include "files/files.h"
#include "files/worker.h"
#include "park.h"
#include "tree/streams.h"

static bool open_again(struct mount *m, struct parked *r)
{
	struct stream *s = mount_stream(m, &r->node);
	struct zr_error err = { .message = "" };
	struct worker *w = mount_worker(m);
	int rc = 0;

	if (!w || (s->container && worker_use(w, s))) {
		rc = -ENOMEM;
	} else if (m->opt->verify_open) {
		w->wait = false;
		rc = verify_file(m, w, s, &r->node, &r->done, &err);
		w->wait = true;
	}
	if (rc == -EAGAIN)
		return false;
	if (rc) {
		complain(m, &err);
		fuse_reply_err(r->req, errno_of(rc));
	} else {
		fuse_reply_open(r->req, &r->file);
	}
	return true;
}

/* Whether the kernel is not to keep what it reads of a file. */
static bool is_direct(struct mount *m, const struct node *n)
{
	struct stat st;

	if (m->opt->cache != CACHE_AUTO)
		return m->opt->cache == CACHE_DIRECT;
	/* A text has no size before it is made. */
	return n->kind != NODE_TEXT && !attr_get(m, n, &st) &&
	       (uint64_t)st.st_size > OPTIONS_AUTO_BYTES;
}

/* ENOSYS makes the kernel open files by itself from then on, and keep what it
 * has read: the largest saving there is for small files. */
void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct mount *m = fuse_req_userdata(req);
	struct parked r = { .req = req, .again = open_again };
	int rc = attr_node(m, ino, &r.node);

	count_request(m, REQUEST_OPEN);
	fi->direct_io = !rc && is_direct(m, &r.node);
	fi->keep_cache = !fi->direct_io;
	fi->fh = fi->direct_io ? OPEN_DIRECT : 0;
	r.file = *fi;
	if (m->no_open)
		fuse_reply_err(req, ENOSYS);
	else if (rc)
		fuse_reply_err(req, errno_of(rc));
	else if ((fi->flags & O_ACCMODE) != O_RDONLY)
		fuse_reply_err(req, EROFS);
	else if (!open_again(m, &r))
		park_add(m->park, &r);
}
