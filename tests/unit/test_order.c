/* SPDX-License-Identifier: BSD-2-Clause
 * Which records are pushed ahead of readers. */
#include "expect.h"
#include "serve/order.h"

#define COUNT 10000u

static bool seen(struct order *o, uint64_t id)
{
	static const struct order_limits limits = { 0, 32, 1 << 20 };

	return order_seen(o, 7, id, COUNT, &limits);
}

/* Take all that is to be pushed; returns how many, the last in *last. */
static unsigned take_all(struct order *o, uint64_t bytes, uint64_t *last)
{
	uint64_t of, n;
	unsigned count = 0;

	while (order_take(o, &of, &n)) {
		*last = n;
		count++;
		order_pushed(o, of, n, bytes);
	}
	return count;
}

Test(order, one_read_is_chance)
{
	struct order o = { .now = 0 };
	uint64_t last;

	cr_assert(!seen(&o, 5));
	cr_assert(!seen(&o, 5000));
	cr_assert_eq(take_all(&o, 1, &last), 0);
}

Test(order, windows_grow_up_to_the_limit)
{
	struct order o = { .now = 0 };
	uint64_t last = 0, id = 0;
	unsigned most = 0;

	seen(&o, id);
	for (int i = 0; i < 10; i++) {
		cr_assert(seen(&o, ++id));
		most = take_all(&o, 1, &last);
		cr_assert_eq(last, id + most);
		id = last;
	}
	cr_assert_eq(most, 32);
}

Test(order, each_record_once)
{
	static unsigned char times[COUNT];
	struct order o = { .now = 0 };
	uint64_t of, n;

	for (uint64_t id = 0; id < COUNT; id++) {
		seen(&o, id);
		for (int i = 0; i < 3 && order_take(&o, &of, &n); i++) {
			cr_assert_gt(n, id);
			cr_assert_lt(n, COUNT);
			cr_assert_eq(times[n]++, 0);
			order_pushed(&o, of, n, 1);
		}
	}
}

Test(order, many_runs_take_turns)
{
	struct order o = { .now = 0 };
	unsigned times[ORDER_RUNS] = { 0 };
	uint64_t of, n;

	for (uint64_t r = 0; r < ORDER_RUNS; r++) {
		seen(&o, r * 500);
		seen(&o, r * 500 + 1);
	}
	for (int i = 0; i < ORDER_RUNS; i++) {
		cr_assert(order_take(&o, &of, &n));
		times[n / 500]++;
		order_pushed(&o, of, n, 1);
	}
	for (int i = 0; i < ORDER_RUNS; i++)
		cr_assert_eq(times[i], 1);
}

Test(order, bytes_are_bounded)
{
	struct order o = { .now = 0 };
	uint64_t last;

	seen(&o, 0);
	for (uint64_t id = 1; id < 200; id += 40) {
		seen(&o, id);
		cr_assert_leq(take_all(&o, 1 << 19, &last), 2);
	}
}

Test(order, what_cannot_be_pushed_ends_the_window)
{
	struct order o = { .now = 0 };
	uint64_t last = 0;

	seen(&o, 10);
	seen(&o, 11);
	cr_assert_eq(take_all(&o, 0, &last), 1);
	cr_assert_eq(last, 12);
	seen(&o, 12);
	cr_assert(seen(&o, 13));
	cr_assert_eq(take_all(&o, 1, &last), 4);
}

Test(order, nothing_behind_the_last_record)
{
	struct order o = { .now = 0 };
	uint64_t last = 0;

	seen(&o, COUNT - 3);
	seen(&o, COUNT - 2);
	cr_assert_eq(take_all(&o, 1, &last), 1);
	cr_assert_eq(last, COUNT - 1);
	cr_assert(!seen(&o, COUNT - 1));
}

Test(order, streams_are_apart)
{
	static const struct order_limits limits = { 0, 32, 100 };
	struct order o = { .now = 0 };

	seen(&o, 10);
	cr_assert(!order_seen(&o, 2, 11, COUNT, &limits));
}

Test(order, what_the_reader_asks_for_itself_is_left_out)
{
	static const struct order_limits limits = { 8, 32, 1 << 20 };
	struct order o = { .now = 0 };
	uint64_t of, id;

	cr_assert(!order_seen(&o, 7, 3, COUNT, &limits));
	cr_assert(order_seen(&o, 7, 11, COUNT, &limits));
	cr_assert(order_take(&o, &of, &id));
	cr_assert_eq(id, 20);
	/* Overtaken: again so many are left. */
	cr_assert(order_seen(&o, 7, 21, COUNT, &limits));
	cr_assert(order_take(&o, &of, &id));
	cr_assert_eq(id, 30);
}
