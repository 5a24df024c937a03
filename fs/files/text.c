/* SPDX-License-Identifier: BSD-2-Clause
 * A record as numbers for people. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "worker.h"

/* Nobody reads more, and all of it must be made to know its size. */
#define TEXT_MAX ((size_t)256 << 20)
/* What the text of a bad record pretends to have. */
#define SIZE_UNKNOWN 128

struct text {
	char *p;
	size_t len, room;
};

struct text_fill {
	struct worker *w;
	struct stream *s;
	uint64_t id;
	struct zr_error *err;
};

static int put(void *ctx, const char *piece, size_t len)
{
	struct text *t = ctx;

	if (len > TEXT_MAX - t->len)
		return -EFBIG;
	if (len > t->room - t->len) {
		size_t room = 2 * (t->len + len) + 4096;
		char *p = realloc(t->p, room);

		if (!p)
			return -ENOMEM;
		t->p = p;
		t->room = room;
	}
	memcpy(t->p + t->len, piece, len);
	t->len += len;
	return 0;
}

static char *shrunk(struct text *t)
{
	char *p = t->len ? realloc(t->p, t->len) : NULL;

	if (p) {
		t->p = p;
		t->room = t->len;
	}
	return t->p;
}

/* What making the text of a record takes: its elements, and the text, which
 * is seldom longer than so many times its elements. */
static uint64_t cost(const struct stream *s, uint64_t id)
{
	uint64_t bytes = zr_record_bound(s->container, id);
	uint64_t text = 8 * bytes;

	return bytes + (text < 2 * TEXT_MAX ? text : 2 * TEXT_MAX);
}

static int fill(void *ctx, struct cache_block *block)
{
	struct text_fill *f = ctx;
	/* A bad table entry has no bound; reading it tells the error. */
	uint64_t size = zr_record_bound(f->s->container, f->id);
	unsigned char *elements = malloc((size_t)size + !size);
	struct text t = { NULL, 0, 0 };
	struct zr_shape shape;
	int rc = -ENOMEM;

	if (elements)
		rc = zr_read(f->w->reader, f->id, elements, (size_t)size, NULL,
			     &shape, f->err);
	if (!rc)
		rc = zr_text(&f->s->info->dtype, &shape, elements, put, &t);
	free(elements);
	worker_trim(f->w);
	if (rc) {
		free(t.p);
		return rc;
	}
	block->memory = shrunk(&t);
	block->size = t.room;
	block->data = block->memory;
	block->len = t.len;
	return 0;
}

int text_hold(struct mount *m, struct worker *w, struct stream *s,
	      const struct node *n, struct cache_block **out,
	      struct zr_error *err)
{
	struct text_fill ctx = { w, s, n->index, err };

	return cache_get(m->images, tree_ino(n), cost(s, n->index), w->wait,
			 fill, &ctx, out);
}

int text_size(struct mount *m, struct worker *w, struct stream *s,
	      const struct node *n, uint64_t *size)
{
	struct zr_error err = { .message = "" };
	struct cache_block *block;
	int rc = text_hold(m, w, s, n, &block, &err);

	if (rc == -EBADMSG) {
		*size = SIZE_UNKNOWN;
		return 0;
	}
	if (rc)
		return rc;
	*size = block->len;
	cache_put(m->images, block);
	return 0;
}
