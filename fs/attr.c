/* SPDX-License-Identifier: BSD-2-Clause
 * Which nodes exist, and their attributes. */
#include "attr.h"

#include <errno.h>

#include "files.h"
#include "image.h"

#define BLOCK_MIN 4096
#define BLOCK_MAX (128 << 10)
/* The layout of a larger .npz would be too large to be made on a whim. */
#define NPZ_MEMBERS_MAX ((uint64_t)1 << 24)

bool attr_exists(const struct stream *s, const struct node *n)
{
	switch (n->kind) {
	case NODE_RECORD:
	case NODE_TEXT:
		return n->index < s->info->records;
	case NODE_ALL:
		return s->all_bytes != 0;
	case NODE_BATCH:
		return n->index < stream_batches(s, n->size) &&
		       (s->dense || stream_batch_count(s, n->size, n->index) <=
					    NPZ_MEMBERS_MAX);
	case NODE_STREAM:
	case NODE_INFO:
	case NODE_RECORDS:
	case NODE_BATCHES:
	case NODE_SIZE:
	case NODE_TEXTS:
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

static nlink_t dir_links(const struct mount *m, const struct node *n)
{
	if (n->kind == NODE_STREAM)
		return 2 + (m->opt->layout == LAYOUT_FULL      ? 3
			    : m->opt->layout == LAYOUT_RECORDS ? 1
							       : 0);
	if (n->kind == NODE_BATCHES)
		return 2 + m->opt->batch_count;
	return 2;
}

static int batch_size(struct mount *m, struct worker *w, struct stream *s,
		      const struct node *n, uint64_t *size)
{
	unsigned char header[ZR_NPY_HEADER_MAX];
	uint64_t count = stream_batch_count(s, n->size, n->index);

	if (!s->dense)
		return npz_size(m, w, s, n, size);
	*size = stream_rows_header(s, count, header) +
		count * s->info->record_bytes;
	return 0;
}

static int file_size(struct mount *m, struct stream *s, const struct node *n,
		     uint64_t *size)
{
	struct worker *w = mount_worker(m);

	if (!w)
		return -ENOMEM;
	switch (n->kind) {
	case NODE_INFO:
		*size = info_size(s);
		return 0;
	case NODE_ALL:
		*size = s->all_bytes;
		return 0;
	case NODE_RECORD:
		return image_size(w, s, n->index, size);
	case NODE_BATCH:
		return batch_size(m, w, s, n, size);
	case NODE_TEXT:
		return text_size(m, w, s, n, size);
	case NODE_STREAM:
	case NODE_RECORDS:
	case NODE_BATCHES:
	case NODE_SIZE:
	case NODE_TEXTS:
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
		.st_nlink = dir ? dir_links(m, n) : 1,
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
