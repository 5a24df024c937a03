/* SPDX-License-Identifier: BSD-2-Clause
 * fs/tree/tree.c: inode numbers. */
#include <criterion/criterion.h>

#include "tree/tree.h"

static void expect_round_trip(struct node n)
{
	uint64_t ino = tree_ino(&n);
	struct node back;

	cr_expect(tree_node(ino, &back), "%llx", (unsigned long long)ino);
	cr_expect(back.kind == n.kind && back.stream == n.stream &&
			  back.size == n.size && back.index == n.index,
		  "%llx: kind %d size %llu index %llu", (unsigned long long)ino,
		  (int)n.kind, (unsigned long long)n.size,
		  (unsigned long long)n.index);
}

Test(tree, has_root_number_1)
{
	struct node root = { .kind = NODE_STREAM };

	cr_expect(tree_ino(&root) == 1);
}

Test(tree, gives_usual_records_numbers_of_32_bits)
{
	struct node n = { .kind = NODE_RECORD, .index = 4000000000u };

	cr_expect(tree_ino(&n) <= UINT32_MAX);
}

Test(tree, finds_back_every_kind_of_node)
{
	static const uint32_t streams[] = { 0, 1, 77, TREE_STREAM_MAX };

	for (size_t s = 0; s < sizeof(streams) / sizeof(streams[0]); s++) {
		for (int k = NODE_STREAM; k <= NODE_FIXED_LAST; k++)
			expect_round_trip(
				(struct node){ .kind = (enum node_kind)k,
					       .stream = streams[s] });
		for (uint64_t i = 1; i <= TREE_RECORDS_MAX; i *= 2)
			expect_round_trip((struct node){ .kind = NODE_RECORD,
							 .stream = streams[s],
							 .index = i - 1 });
		for (uint64_t i = 1; i <= TREE_GATHER_MAX; i *= 2)
			expect_round_trip((struct node){ .kind = NODE_GATHER,
							 .stream = streams[s],
							 .index = i - 1 });
		for (uint64_t i = 1; i <= TREE_BATCH_MAX; i *= 2)
			expect_round_trip((struct node){ .kind = NODE_SIZE,
							 .stream = streams[s],
							 .size = i });
	}
}

Test(tree, finds_back_batches_up_to_the_last)
{
	for (uint64_t size = 1; size <= TREE_BATCH_MAX;
	     size = size * 3 / 2 + 1) {
		uint64_t last = (TREE_RECORDS_MAX - 1) / size;
		uint64_t index[] = { 0, 1, last / 2, last };

		for (size_t i = 0; i < 4; i++)
			expect_round_trip((struct node){ .kind = NODE_BATCH,
							 .stream = 3,
							 .size = size,
							 .index = index[i] });
	}
	expect_round_trip((struct node){
		.kind = NODE_BATCH,
		.size = TREE_BATCH_MAX,
		.index = TREE_RECORDS_MAX / TREE_BATCH_MAX - 1 });
}

Test(tree, gives_no_two_batches_one_number)
{
	/* All batches of all sizes of a small container. */
	enum { records = 60, most = 1024 };
	static uint64_t seen[most];
	size_t count = 0;

	for (uint64_t size = 1; size <= records + 2; size++) {
		for (uint64_t i = 0; i * size < records; i++) {
			struct node n = { .kind = NODE_BATCH,
					  .size = size,
					  .index = i };

			seen[count] = tree_ino(&n);
			for (size_t k = 0; k < count; k++)
				cr_assert(seen[k] != seen[count]);
			cr_assert(++count < most);
		}
	}
}

Test(tree, refuses_numbers_it_never_makes)
{
	static const uint64_t numbers[] = {
		0,
		NODE_FIXED_LAST + 1,
		15,
		16 + TREE_RECORDS_MAX,
		1ull << 60,                      /* batch size 0 */
		(1ull << 60) + (1ull << 31) + 1, /* batch size over 2^31 */
		(3ull << 60) + TREE_RECORDS_MAX, /* text of no record */
		5ull << 60,
		UINT64_MAX,
	};
	struct node n;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		cr_expect(!tree_node(numbers[i], &n), "%llx",
			  (unsigned long long)numbers[i]);
}

Test(tree, finds_the_same_number_again_for_all_it_accepts)
{
	uint64_t x = 88172645463325252u;

	for (int i = 0; i < 200000; i++) {
		struct node n;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		/* Most classes are unused: aim at those in use. */
		if (tree_node(x % (5ull << 60), &n))
			cr_assert(tree_ino(&n) == x % (5ull << 60), "%llx",
				  (unsigned long long)x);
	}
}

Test(tree, knows_the_way_up)
{
	struct node batch = { NODE_BATCH, 2, 256, 9 }, up;

	up = tree_parent(&batch);
	cr_expect(up.kind == NODE_SIZE && up.size == 256 && up.stream == 2);
	up = tree_parent(&up);
	cr_expect(up.kind == NODE_BATCHES && up.stream == 2);
	up = tree_parent(&up);
	cr_expect(up.kind == NODE_STREAM && up.stream == 2);
	up = tree_parent(&up);
	cr_expect(tree_ino(&up) == 1);
	up = tree_parent(&up);
	cr_expect(tree_ino(&up) == 1);
}
