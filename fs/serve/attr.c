/* SPDX-License-Identifier: BSD-2-Clause
 * Which nodes exist, and their attributes. */
#include "attr.h"

#include <errno.h>

#include "files/files.h"
#include "files/image.h"
#include "files/worker.h"
#include "tree/streams.h"

#define BLOCK_MIN 4096
#define BLOCK_MAX (128 << 10)

bool attr_exists(const struct stream *s, const struct node *n)
{
	if (n->kind == NODE_STATS && s->number)
		return false;
	if (!s->container)
		return n->kind == NODE_STREAM || n->kind == NODE_INFO ||
		       n->kind == NODE_STATS;
	switch (n->kind) {
	case NODE_RECORD:
	case NODE_TEXT:
		return n->index < s->info->records;
	case NODE_ALL:
		return s->all_bytes != 0;
	case NODE_BATCH:
		return n->index < stream_batches(s, n->size);
	case NODE_STREAM:
	case NODE_INFO:
	case NODE_STATS:
	case NODE_RECORDS:
	case NODE_BATCHES:
	case NODE_SIZE:
	case NODE_TEXTS:
	case NODE_GATHERS:
	case NODE_GATHER:
		break;
	}
	return true;
}

int attr_node(struct mount *m, uint64_t ino, struct node *n)
{
	const struct stream *s;

	if (!tree_node(ino, n))
		return -ENOENT;
	s = mount_stream(m, n);
	return s && attr_exists(s, n) ? 0 : -ENOENT;
}

static nlink_t dir_links(const struct mount *m, const struct stream *s,
			 const struct node *n)
{
	if (!s->container)
		return 2 + m->stream_count;
	if (n->kind == NODE_STREAM)
		return 2 + (s->layout == LAYOUT_FULL      ? 4
			    : s->layout == LAYOUT_RECORDS ? 1
							  : 0);
	if (n->kind == NODE_BATCHES)
		return 2 + m->opt->batch_count;
	return 2;
}

static int rows_size(const struct stream *s, uint64_t count, uint64_t *size)
{
	unsigned char header[ZR_NPY_HEADER_MAX];

	/* A file cannot be longer than off_t tells. */
	if (__builtin_mul_overflow(count, s->info->record_bytes, size) ||
	    *size > INT64_MAX - ZR_NPY_HEADER_MAX)
		return -EFBIG;
	*size += stream_rows_header(s, count, header);
	return 0;
}

static int composed_size(struct mount *m, struct worker *w, struct stream *s,
			 const struct node *n, uint64_t *size)
{
	struct ids ids;
	int rc = ids_hold(m, n, &ids);

	if (rc)
		return rc;
	rc = s->dense ? rows_size(s, ids.count, size)
		      : npz_size(m, w, s, n, &ids, size);
	ids_put(m, n);
	return rc;
}

static int file_size(struct mount *m, struct stream *s, const struct node *n,
		     uint64_t *size)
{
	struct worker *w = mount_worker(m);

	if (!w || (s->container && worker_use(w, s)))
		return -ENOMEM;
	switch (n->kind) {
	case NODE_INFO:
		*size = s->json_len;
		return 0;
	case NODE_STATS:
		*size = STATS_BYTES;
		return 0;
	case NODE_ALL:
		*size = s->all_bytes;
		return 0;
	case NODE_RECORD:
		return image_size(w, s, n->index, size);
	case NODE_BATCH:
	case NODE_GATHER:
		return composed_size(m, w, s, n, size);
	case NODE_TEXT:
		return text_size(m, w, s, n, size);
	case NODE_STREAM:
	case NODE_RECORDS:
	case NODE_BATCHES:
	case NODE_SIZE:
	case NODE_TEXTS:
	case NODE_GATHERS:
		break;
	}
	return -EISDIR;
}

/* Readers size their buffers by it: no larger than the file, whole pages. */
static blksize_t block_size(uint64_t size)
{
	uint64_t n = (size + BLOCK_MIN - 1) / BLOCK_MIN * BLOCK_MIN;

	return n < BLOCK_MIN   ? BLOCK_MIN
	       : n > BLOCK_MAX ? BLOCK_MAX
			       : (blksize_t)n;
}

int attr_get(struct mount *m, const struct node *n, struct stat *st)
{
	struct stream *s = mount_stream(m, n);
	bool dir = tree_is_dir(n->kind);
	uint64_t size = 0;
	int rc;

	if (!dir) {
		rc = file_size(m, s, n, &size);
		if (rc)
			return rc;
	}
	*st = (struct stat){
		.st_ino = tree_ino(n),
		.st_mode = (dir ? S_IFDIR | 0555 : S_IFREG | 0444) &
			   ~m->opt->umask,
		.st_nlink = dir ? dir_links(m, s, n) : 1,
		.st_uid = m->opt->uid,
		.st_gid = m->opt->gid,
		.st_size = (off_t)size,
		.st_blocks = (blkcnt_t)((size + 511) / 512),
		.st_blksize = block_size(size),
	};
	st->st_mtim = (struct timespec){ .tv_sec = s->info->mtime_sec,
					 .tv_nsec = s->info->mtime_nsec };
	st->st_ctim = st->st_mtim;
	st->st_atim = st->st_mtim;
	return 0;
}
