/* SPDX-License-Identifier: BSD-2-Clause
 * -o verify=open: whether the records of a file are good, before it is read. */
#include <errno.h>

#include "files.h"
#include "image.h"
#include "worker.h"

static int check_record(struct mount *m, struct worker *w, struct stream *s,
			uint64_t id, struct zr_error *err)
{
	struct node n = { .kind = NODE_RECORD,
			  .stream = s->number,
			  .index = id };
	struct cache_block *b;
	int rc;

	if (image_room(s, id) <= WORKER_KEEP)
		return zr_check(w->reader, id, err);
	/* Within the bounds of the cache, and there for the READs. */
	rc = image_hold(m, w, s, &n, &b, err);
	if (!rc)
		cache_done(m->images, b);
	return rc;
}

static int check_text(struct mount *m, struct worker *w, struct stream *s,
		      const struct node *n, struct zr_error *err)
{
	struct cache_block *b;
	int rc = text_hold(m, w, s, n, &b, err);

	if (!rc)
		cache_put(m->images, b);
	return rc;
}

static int check_many(struct mount *m, struct worker *w, struct stream *s,
		      const struct node *n, uint64_t *done,
		      struct zr_error *err)
{
	struct ids ids;
	int rc = ids_hold(m, n, &ids);

	if (rc)
		return rc;
	for (; *done < ids.count && !rc; *done += !rc)
		rc = check_record(m, w, s, ids_at(&ids, *done), err);
	ids_put(m, n);
	return rc;
}

int verify_file(struct mount *m, struct worker *w, struct stream *s,
		const struct node *n, uint64_t *done, struct zr_error *err)
{
	switch (n->kind) {
	case NODE_RECORD:
		return check_record(m, w, s, n->index, err);
	case NODE_TEXT:
		return check_text(m, w, s, n, err);
	case NODE_BATCH:
	case NODE_GATHER:
		return check_many(m, w, s, n, done, err);
	case NODE_ALL:
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
	return 0;
}
