/* SPDX-License-Identifier: BSD-2-Clause
 * The tree of a mount as arithmetic: inode number <-> what it stands for. */
#include "tree.h"

#include <assert.h>

#define CLASS_SHIFT 60
#define STREAM_SHIFT 48
#define VALUE_MASK (((uint64_t)1 << STREAM_SHIFT) - 1)
#define LOG_SHIFT 43
#define LOG_MASK (((uint64_t)1 << LOG_SHIFT) - 1)
#define FIRST_RECORD 16u

enum { CLASS_PLAIN, CLASS_SIZE, CLASS_BATCH, CLASS_TEXT, CLASS_GATHER };

static uint64_t batch_value(uint64_t size, uint64_t index)
{
	unsigned w = 63u - (unsigned)__builtin_clzll(size);

	return (uint64_t)w << LOG_SHIFT | (index << w) |
	       (size ^ (uint64_t)1 << w);
}

uint64_t tree_ino(const struct node *n)
{
	uint64_t class = CLASS_PLAIN, value = (uint64_t)n->kind;

	assert(n->stream <= TREE_STREAM_MAX);
	if (n->kind == NODE_RECORD) {
		assert(n->index < TREE_RECORDS_MAX);
		value = FIRST_RECORD + n->index;
	} else if (n->kind == NODE_SIZE) {
		class = CLASS_SIZE;
		value = n->size;
	} else if (n->kind == NODE_BATCH) {
		assert(n->size && n->size <= TREE_BATCH_MAX);
		class = CLASS_BATCH;
		value = batch_value(n->size, n->index);
	} else if (n->kind == NODE_TEXT) {
		assert(n->index < TREE_RECORDS_MAX);
		class = CLASS_TEXT;
		value = n->index;
	} else if (n->kind == NODE_GATHER) {
		assert(n->index < TREE_GATHER_MAX);
		class = CLASS_GATHER;
		value = n->index;
	}
	return class << CLASS_SHIFT | (uint64_t)n->stream << STREAM_SHIFT |
	       value;
}

static bool plain_node(uint64_t value, struct node *n)
{
	if (value >= FIRST_RECORD) {
		n->kind = NODE_RECORD;
		n->index = value - FIRST_RECORD;
		return n->index < TREE_RECORDS_MAX;
	}
	n->kind = (enum node_kind)value;
	return value >= NODE_STREAM && value <= NODE_FIXED_LAST;
}

static bool batch_node(uint64_t value, struct node *n)
{
	unsigned w = (unsigned)(value >> LOG_SHIFT);
	uint64_t one = (uint64_t)1 << w;

	value &= LOG_MASK;
	n->kind = NODE_BATCH;
	n->size = one | (value & (one - 1));
	n->index = value >> w;
	return n->size <= TREE_BATCH_MAX;
}

bool tree_node(uint64_t ino, struct node *n)
{
	uint64_t value = ino & VALUE_MASK;

	*n = (struct node){ .stream = (uint32_t)(ino >> STREAM_SHIFT) &
				      TREE_STREAM_MAX };
	switch (ino >> CLASS_SHIFT) {
	case CLASS_PLAIN:
		return plain_node(value, n);
	case CLASS_SIZE:
		n->kind = NODE_SIZE;
		n->size = value;
		return value && value <= TREE_BATCH_MAX;
	case CLASS_BATCH:
		return batch_node(value, n);
	case CLASS_TEXT:
		n->kind = NODE_TEXT;
		n->index = value;
		return value < TREE_RECORDS_MAX;
	case CLASS_GATHER:
		n->kind = NODE_GATHER;
		n->index = value;
		return true;
	default:
		return false;
	}
}

struct node tree_parent(const struct node *n)
{
	struct node up = { .kind = NODE_STREAM, .stream = n->stream };

	switch (n->kind) {
	case NODE_RECORD:
		up.kind = NODE_RECORDS;
		break;
	case NODE_SIZE:
		up.kind = NODE_BATCHES;
		break;
	case NODE_BATCH:
		up.kind = NODE_SIZE;
		up.size = n->size;
		break;
	case NODE_TEXT:
		up.kind = NODE_TEXTS;
		break;
	case NODE_GATHER:
		up.kind = NODE_GATHERS;
		break;
	case NODE_STREAM:
		up.stream = 0;
		break;
	case NODE_INFO:
	case NODE_RECORDS:
	case NODE_BATCHES:
	case NODE_ALL:
	case NODE_TEXTS:
	case NODE_GATHERS:
	case NODE_STATS:
		break;
	}
	return up;
}

bool tree_is_dir(enum node_kind kind)
{
	return kind == NODE_STREAM || kind == NODE_RECORDS ||
	       kind == NODE_BATCHES || kind == NODE_SIZE ||
	       kind == NODE_TEXTS || kind == NODE_GATHERS;
}
