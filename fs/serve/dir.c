/* SPDX-License-Identifier: BSD-2-Clause
 * READDIR and READDIRPLUS. A directory has no state: the offset of an entry
 * is its place plus one, so a listing goes on anywhere at no cost. */
#include "dir.h"

#include <errno.h>

#include "attr.h"
#include "base/name.h"
#include "files/worker.h"
#include "tree/streams.h"

/* The kernel needs about 1 KiB for a file that it knows. */
#define TELL_MAX ((uint64_t)200000)
/* As above, where each size costs a decode. */
#define TELL_COSTLY_MAX ((uint64_t)4096)
/* Beyond, each file that is looked up lets listings tell so many, and so many
 * at most: what `find` and `du` list before they look. */
#define TELL_EACH 1024u
#define TELL_AHEAD 100000u

bool dir_tells_all(const struct mount *m)
{
	uint64_t all = 0, costly = 0;

	if (m->opt->preload)
		return true;
	for (uint32_t i = 0; i < m->stream_count; i++) {
		const struct stream *s = &m->streams[i];

		all += s->info->records;
		if (!s->dense && !s->info->checksums &&
		    s->info->codec != ZR_RAW)
			costly += s->info->records;
	}
	return m->opt->push_bytes && all <= TELL_MAX &&
	       costly <= TELL_COSTLY_MAX;
}

static bool is_one_of_many(const struct node *n)
{
	return n->kind == NODE_RECORD || n->kind == NODE_BATCH;
}

void dir_looked_up(struct mount *m, const struct node *n)
{
	uint32_t more = m->tell + TELL_EACH;

	if (!is_one_of_many(n))
		return;
	/* That others change it meanwhile costs some LOOKUPs. */
	m->tell = more < TELL_AHEAD ? more : TELL_AHEAD;
}

/* A .npz has no size before all its members have one, and a text none before
 * it is made; who wants it asks. So does, where not all are told, whoever has a
 * use for the first of each answer: that tells us to tell the next ones. */
static bool is_told(struct mount *m, const struct node *n, bool first)
{
	uint32_t tell;

	if (n->kind == NODE_TEXT ||
	    (n->kind == NODE_BATCH && !mount_stream(m, n)->dense))
		return false;
	if (m->plus_always || !is_one_of_many(n))
		return true;
	tell = m->tell;
	if (first || !tell)
		return false;
	m->tell = tell - 1;
	return true;
}

/* Returns the bytes of the entry, added only if they are at most `room`. */
static size_t add(fuse_req_t req, struct mount *m, char *buf, size_t room,
		  const char *name, const struct node *n, uint64_t place,
		  bool plus, bool first)
{
	struct fuse_entry_param e = {
		.attr = { .st_ino = tree_ino(n),
			  .st_mode = tree_is_dir(n->kind) ? S_IFDIR : S_IFREG },
	};
	off_t next = (off_t)(place + 1);

	if (!plus)
		return fuse_add_direntry(req, buf, room, name, &e.attr, next);
	/* Number 0 lists the name and tells the kernel nothing more, which
	 * is right for "." and "..", and for what has no attributes now. */
	if (place >= 2 && is_told(m, n, first) && attr_get(m, n, &e.attr) == 0) {
		e.ino = e.attr.st_ino;
		e.generation = 1;
		e.attr_timeout = FOREVER;
		e.entry_timeout = FOREVER;
	}
	return fuse_add_direntry_plus(req, buf, room, name, &e, next);
}

static void list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		 bool plus)
{
	struct mount *m = fuse_req_userdata(req);
	struct worker *w = mount_worker(m);
	uint64_t place = (uint64_t)off;
	struct node dir, child;
	char name[NAME_LENGTH_MAX + 1];
	size_t used = 0, n;
	char *buf;

	if (attr_node(m, ino, &dir) || !tree_is_dir(dir.kind)) {
		fuse_reply_err(req, ENOTDIR);
		return;
	}
	buf = w ? (char *)worker_reply(w, size) : NULL;
	if (!buf) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	for (; attr_entry(m, &dir, place, name, &child); place++) {
		n = add(req, m, buf + used, size - used, name, &child, place,
			plus, !used);
		if (n > size - used)
			break;
		used += n;
	}
	fuse_reply_buf(req, buf, used);
}

void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		struct fuse_file_info *fi)
{
	(void)fi;
	count_request(fuse_req_userdata(req), REQUEST_READDIR);
	list(req, ino, size, off, false);
}

void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi)
{
	(void)fi;
	count_request(fuse_req_userdata(req), REQUEST_READDIRPLUS);
	list(req, ino, size, off, true);
}
