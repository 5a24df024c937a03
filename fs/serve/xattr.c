/* SPDX-License-Identifier: BSD-2-Clause
 * -o xattr: what an array is, as extended attributes of its file. */
#include "xattr.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attr.h"
#include "files/worker.h"
#include "tree/ids.h"
#include "tree/streams.h"

#define PREFIX "user.zrecord."
/* Room for the longest shape. */
#define VALUE_MAX 2048

struct file {
	struct mount *m;
	struct stream *s;
	struct node n;
	struct worker *w;
};

static bool is_one_record(const struct node *n)
{
	return n->kind == NODE_RECORD || n->kind == NODE_TEXT;
}

static bool has_array(const struct file *f)
{
	switch (f->n.kind) {
	case NODE_RECORD:
	case NODE_TEXT:
		return true;
	case NODE_BATCH:
	case NODE_GATHER:
	case NODE_ALL:
		return f->s->dense;
	case NODE_INFO:
	case NODE_STATS:
	case NODE_STREAM:
	case NODE_RECORDS:
	case NODE_BATCHES:
	case NODE_SIZE:
	case NODE_TEXTS:
	case NODE_GATHERS:
		break;
	}
	return false;
}

/* As JSON writes it, and Python. */
static int put_shape(const struct zr_shape *shape, bool many, uint64_t count,
		     char *text)
{
	int len = many ? sprintf(text, "[%" PRIu64, count) : sprintf(text, "[");

	for (uint32_t i = 0; i < shape->rank; i++)
		len += sprintf(text + len, "%s%" PRIu64, many || i ? ", " : "",
			       shape->dims[i]);
	return len + sprintf(text + len, "]");
}

static int shape_text(struct file *f, char *text)
{
	struct zr_shape shape = f->s->info->item_shape;
	struct ids ids;
	int rc;

	if (is_one_record(&f->n)) {
		rc = zr_record_shape(f->w->reader, f->n.index, &shape, NULL,
				     NULL);
		return rc ? rc : put_shape(&shape, false, 0, text);
	}
	rc = ids_hold(f->m, &f->n, &ids);
	if (rc)
		return rc;
	ids_put(f->m, &f->n);
	return put_shape(&shape, true, ids.count, text);
}

/* Returns the length of the value, or a negative errno. */
static int value(struct file *f, const char *name, char *text)
{
	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || !has_array(f))
		return -ENODATA;
	name += strlen(PREFIX);
	if (!strcmp(name, "dtype"))
		return sprintf(text, "%s", f->s->info->dtype.str);
	if (!strcmp(name, "codec"))
		return sprintf(text, "%s", zr_codec_name(f->s->info->codec));
	if (!strcmp(name, "shape"))
		return shape_text(f, text);
	if (!strcmp(name, "index") && is_one_record(&f->n))
		return sprintf(text, "%" PRIu64, f->n.index);
	return -ENODATA;
}

static int open_file(fuse_req_t req, fuse_ino_t ino, struct file *f)
{
	int rc;

	f->m = fuse_req_userdata(req);
	count_request(f->m, REQUEST_OTHER);
	rc = attr_node(f->m, ino, &f->n);
	if (rc)
		return rc;
	f->s = mount_stream(f->m, &f->n);
	f->w = mount_worker(f->m);
	if (!f->w || (f->s->container && worker_use(f->w, f->s)))
		return -ENOMEM;
	return 0;
}

static void reply(fuse_req_t req, const char *text, int len, size_t size)
{
	if (len < 0)
		fuse_reply_err(req, len == -ENODATA ? ENODATA : errno_of(len));
	else if (!size)
		fuse_reply_xattr(req, (size_t)len);
	else if ((size_t)len > size)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, text, (size_t)len);
}

void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	char text[VALUE_MAX];
	struct file f;
	int len = open_file(req, ino, &f);

	reply(req, text, len ? len : value(&f, name, text), size);
}

void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	static const char names[] = PREFIX "dtype\0" PREFIX "shape\0" PREFIX
					   "codec\0" PREFIX "index";
	struct file f;
	int len = open_file(req, ino, &f);

	if (!len && has_array(&f))
		len = (int)(sizeof(names) -
			    (is_one_record(&f.n) ? 0 : sizeof(PREFIX "index")));
	reply(req, names, len, size);
}
