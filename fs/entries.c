/* SPDX-License-Identifier: BSD-2-Clause
 * Names of the tree: from a name to a node, and in the order of a listing. */
#include <errno.h>
#include <string.h>

#include "attr.h"
#include "name.h"

/* In the order of a listing. */
static const struct fixed_name {
	const char *name;
	enum node_kind kind;
} fixed_names[] = {
	{ "info.json", NODE_INFO },
	{ "records", NODE_RECORDS },
	{ "batches", NODE_BATCHES },
	{ "all.npy", NODE_ALL },
};
#define FIXED_NAMES (sizeof(fixed_names) / sizeof(fixed_names[0]))

static const char *batch_suffix(const struct stream *s)
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

static bool child_node(const struct stream *s, const struct node *parent,
		       const char *name, struct node *child)
{
	switch (parent->kind) {
	case NODE_STREAM:
		return fixed_node(name, child);
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
		return name_parse(name, batch_suffix(s), &child->index);
	case NODE_INFO:
	case NODE_ALL:
	case NODE_RECORD:
	case NODE_BATCH:
		break;
	}
	return false;
}

int attr_lookup(struct mount *m, const struct node *parent, const char *name,
		struct node *child)
{
	const struct stream *s = mount_stream(m, parent);

	*child = *parent;
	/* NFS and open_by_handle_at ask with these for nodes they know. */
	if (!strcmp(name, "."))
		return 0;
	if (!tree_is_dir(parent->kind))
		return -ENOTDIR;
	if (!strcmp(name, "..")) {
		*child = tree_parent(parent);
		return 0;
	}
	if (strlen(name) > NAME_LENGTH_MAX)
		return -ENAMETOOLONG;
	*child = (struct node){ .stream = parent->stream };
	if (!child_node(s, parent, name, child) || !attr_exists(s, child))
		return -ENOENT;
	return 0;
}

static bool stream_entry(const struct stream *s, uint64_t i, char *name,
			 struct node *child)
{
	if (i >= FIXED_NAMES)
		return false;
	strcpy(name, fixed_names[i].name);
	child->kind = fixed_names[i].kind;
	return attr_exists(s, child);
}

static bool dir_entry(struct mount *m, const struct node *dir, uint64_t i,
		      char *name, struct node *child)
{
	const struct stream *s = mount_stream(m, dir);

	child->index = i;
	child->size = dir->size;
	switch (dir->kind) {
	case NODE_STREAM:
		return stream_entry(s, i, name, child);
	case NODE_RECORDS:
		child->kind = NODE_RECORD;
		name_format(name, i, s->width, ".npy");
		return i < s->info->records;
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
			    batch_suffix(s));
		return i < stream_batches(s, dir->size) &&
		       attr_exists(s, child);
	case NODE_INFO:
	case NODE_ALL:
	case NODE_RECORD:
	case NODE_BATCH:
		break;
	}
	return false;
}

bool attr_entry(struct mount *m, const struct node *dir, uint64_t place,
		char *name, struct node *child)
{
	if (place < 2) {
		*child = place ? tree_parent(dir) : *dir;
		strcpy(name, place ? ".." : ".");
		return true;
	}
	*child = (struct node){ .stream = dir->stream };
	return dir_entry(m, dir, place - 2, name, child);
}
