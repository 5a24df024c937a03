/* SPDX-License-Identifier: BSD-2-Clause
 * Names of the tree: from a name to a node, and in the order of a listing. */
#include <errno.h>
#include <string.h>

#include "attr.h"
#include "base/name.h"
#include "tree/gather.h"
#include "tree/streams.h"

/* In the order of a listing. */
static const struct fixed_name {
	const char *name;
	enum node_kind kind;
} fixed_names[] = {
	{ "info.json", NODE_INFO },
	{ "stats.json", NODE_STATS }, /* of the mount: in its root */
	{ "records", NODE_RECORDS },
	{ "batches", NODE_BATCHES },
	{ "gather", NODE_GATHERS },
	{ "all.npy", NODE_ALL },
	{ "text", NODE_TEXTS },
};
#define FIXED_NAMES (sizeof(fixed_names) / sizeof(fixed_names[0]))

/* What several records are in one file. */
static const char *many_suffix(const struct stream *s)
{
	return s->dense ? ".npy" : ".npz";
}

static bool fixed_node(const char *name, struct node *child)
{
	for (size_t i = 0; i < FIXED_NAMES; i++) {
		if (!strcmp(fixed_names[i].name, name)) {
			child->kind = fixed_names[i].kind;
			return true;
		}
	}
	return false;
}

static bool is_shown(const struct stream *s, enum node_kind kind)
{
	if (!s->container)
		return s->layout == LAYOUT_FULL;
	return s->layout == LAYOUT_FULL || kind == NODE_RECORDS;
}

static bool child_node(const struct stream *s, const struct node *parent,
		       const char *name, struct node *child)
{
	switch (parent->kind) {
	case NODE_STREAM:
		if (!s->container || s->layout != LAYOUT_FLAT)
			return fixed_node(name, child) &&
			       is_shown(s, child->kind);
		child->kind = NODE_RECORD;
		return name_parse(name, ".npy", &child->index);
	case NODE_TEXTS:
		child->kind = NODE_TEXT;
		return name_parse(name, ".txt", &child->index);
	case NODE_RECORDS:
		child->kind = NODE_RECORD;
		return name_parse(name, ".npy", &child->index);
	case NODE_BATCHES:
		child->kind = NODE_SIZE;
		return name_parse_number(name, &child->size) && child->size &&
		       child->size <= TREE_BATCH_MAX;
	case NODE_SIZE:
		child->kind = NODE_BATCH;
		child->size = parent->size;
		return name_parse(name, many_suffix(s), &child->index);
	case NODE_GATHERS:
	case NODE_INFO:
	case NODE_STATS:
	case NODE_ALL:
	case NODE_RECORD:
	case NODE_BATCH:
	case NODE_TEXT:
	case NODE_GATHER:
		break;
	}
	return false;
}

struct node attr_parent(struct mount *m, const struct node *n)
{
	struct node up = tree_parent(n);

	if (n->kind == NODE_RECORD && mount_stream(m, n)->layout == LAYOUT_FLAT)
		up.kind = NODE_STREAM;
	return up;
}

/* What is no selection of this container never will be one: no such name. */
static int gather_node(struct mount *m, const struct stream *s,
		       const char *name, struct node *child)
{
	const char *suffix = many_suffix(s);
	size_t len = strlen(name), end = strlen(suffix);
	const struct gather *x;
	int rc;

	if (len < end || strcmp(name + len - end, suffix) != 0)
		return -ENOENT;
	rc = gather_find(m->gathers, s->number, name, len - end,
			 s->info->records, &x);
	if (rc)
		return rc == -ENOMEM ? rc : -ENOENT;
	child->kind = NODE_GATHER;
	child->index = x->number;
	return 0;
}

/* NFS and open_by_handle_at ask for nodes they know with this name. */
static int same_node(struct mount *m, const struct node *n)
{
	/* What is held is the kernel's from now on. */
	return n->kind != NODE_GATHER || gather_hold(m->gathers, n->index)
		       ? 0
		       : -ESTALE;
}

int attr_lookup(struct mount *m, const struct node *parent, const char *name,
		struct node *child)
{
	const struct stream *s = mount_stream(m, parent);

	*child = *parent;
	if (!strcmp(name, "."))
		return same_node(m, parent);
	if (!strcmp(name, "..") && tree_is_dir(parent->kind)) {
		*child = attr_parent(m, parent);
		return 0;
	}
	if (!tree_is_dir(parent->kind))
		return -ENOTDIR;
	if (strlen(name) > NAME_LENGTH_MAX)
		return -ENAMETOOLONG;
	*child = (struct node){ .stream = parent->stream };
	if (parent->kind == NODE_GATHERS)
		return gather_node(m, s, name, child);
	if (!s->container && stream_named(m, name)) {
		child->kind = NODE_STREAM;
		child->stream = stream_named(m, name)->number;
		return 0;
	}
	if (!child_node(s, parent, name, child) || !attr_exists(s, child))
		return -ENOENT;
	return 0;
}

static bool record_entry(const struct stream *s, uint64_t i, const char *suffix,
			 enum node_kind kind, char *name, struct node *child)
{
	child->kind = kind;
	name_format(name, i, s->width, suffix);
	return i < s->info->records;
}

static bool stream_entry(const struct mount *m, const struct stream *s,
			 uint64_t i, char *name, struct node *child)
{
	if (s->container && s->layout == LAYOUT_FLAT)
		return record_entry(s, i, ".npy", NODE_RECORD, name, child);
	for (size_t k = 0; k < FIXED_NAMES; k++) {
		child->kind = fixed_names[k].kind;
		if (!is_shown(s, child->kind) || !attr_exists(s, child))
			continue;
		strcpy(name, fixed_names[k].name);
		if (i-- == 0)
			return true;
	}
	if (s->container || i >= m->stream_count)
		return false;
	child->kind = NODE_STREAM;
	child->stream = m->streams[i].number;
	strcpy(name, m->streams[i].name);
	return true;
}

static bool dir_entry(struct mount *m, const struct node *dir, uint64_t i,
		      char *name, struct node *child)
{
	const struct stream *s = mount_stream(m, dir);

	child->index = i;
	child->size = dir->size;
	switch (dir->kind) {
	case NODE_STREAM:
		return stream_entry(m, s, i, name, child);
	case NODE_RECORDS:
		return record_entry(s, i, ".npy", NODE_RECORD, name, child);
	case NODE_TEXTS:
		return record_entry(s, i, ".txt", NODE_TEXT, name, child);
	case NODE_BATCHES:
		child->kind = NODE_SIZE;
		if (i >= m->opt->batch_count)
			return false;
		child->size = m->opt->batch[i];
		name_format(name, child->size, 1, "");
		return true;
	case NODE_SIZE:
		child->kind = NODE_BATCH;
		name_format(name, i, name_width(stream_batches(s, dir->size)),
			    many_suffix(s));
		return i < stream_batches(s, dir->size) &&
		       attr_exists(s, child);
	case NODE_GATHERS:
	case NODE_INFO:
	case NODE_STATS:
	case NODE_ALL:
	case NODE_RECORD:
	case NODE_BATCH:
	case NODE_TEXT:
	case NODE_GATHER:
		break;
	}
	return false;
}

bool attr_entry(struct mount *m, const struct node *dir, uint64_t place,
		char *name, struct node *child)
{
	if (place < 2) {
		*child = place ? attr_parent(m, dir) : *dir;
		strcpy(name, place ? ".." : ".");
		return true;
	}
	*child = (struct node){ .stream = dir->stream };
	return dir_entry(m, dir, place - 2, name, child);
}
