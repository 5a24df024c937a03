/* SPDX-License-Identifier: BSD-2-Clause
 * The tree of a mount as arithmetic: inode number <-> what it stands for.
 *
 * No table of files exists, but for the selections of gather/: a number says
 * all about its file, is the same in every mount of a container, and needs no
 * FORGET. Bits of a number:
 *
 *     63..60 class   59..48 stream   47..0 value
 *
 *     class 0   value 1..15: a fixed node; 16 + i: record i
 *     class 1   value: the batch size of a directory of batches
 *     class 2   bits 47..43 w = log2(size), then index * 2^w + size - 2^w:
 *               index * size is below the number of records, so w bits of
 *               the size and the index share 43 bits
 *     class 3   value: the record whose text it is
 *     class 4   value: the number of a selection, see gather.h
 *
 * Stream 0 is the container that is mounted itself; it makes the root number
 * 1 and the numbers of usual records small. Streams from 1 on are for mounts
 * of several containers.
 */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <stdint.h>

/* Limits of the numbers above. */
#define TREE_RECORDS_MAX ((uint64_t)1 << 42)
#define TREE_GATHER_MAX ((uint64_t)1 << 48)
#define TREE_BATCH_MAX ((uint64_t)1 << 31)
#define TREE_STREAM_MAX 4095u

enum node_kind {
	NODE_STREAM = 1, /* the directory of a container; of stream 0: root */
	NODE_INFO,
	NODE_RECORDS,
	NODE_BATCHES,
	NODE_ALL,
	NODE_TEXTS,
	NODE_GATHERS,
	NODE_STATS,
	NODE_FIXED_LAST = NODE_STATS,
	NODE_RECORD,
	NODE_SIZE, /* batches/SIZE */
	NODE_BATCH,
	NODE_TEXT,
	NODE_GATHER,
};

struct node {
	enum node_kind kind;
	uint32_t stream;
	uint64_t size;  /* NODE_SIZE, NODE_BATCH: records of a full batch */
	uint64_t index; /* NODE_RECORD, NODE_BATCH, NODE_TEXT, NODE_GATHER */
};

/* Return the number of a node that is within the limits. */
uint64_t tree_ino(const struct node *n);

/* Store in *n what `ino` stands for. Returns false if tree_ino never makes
 * such a number. Whether the container has the node is not asked here. */
bool tree_node(uint64_t ino, struct node *n);

/* Return the directory a node is in; the root is its own. */
struct node tree_parent(const struct node *n);

/* Return true for kinds that are directories. */
bool tree_is_dir(enum node_kind kind);

#endif
