/* SPDX-License-Identifier: BSD-2-Clause
 * Permutations of [0, n) that need no table: id p is computed from p.
 *
 * A network permutes a range a little larger than [0, n); a number that it
 * sends out of [0, n) is sent through again until it is inside, which keeps
 * the map one to one (cycle walking). Ours works on pairs (hi, lo) with
 * hi_n * lo_n barely above n, so that walking is rare for every n; loaderx's
 * works on bits, and walks up to four times. */
#include "permute.h"

/* Up to here shuffle builds a table: every permutation of so few numbers is
 * as likely as any other, which a network cannot promise. */
#define TABLE_MAX 256u

static uint64_t ceil_sqrt(uint64_t n)
{
	uint64_t low = 1, high = UINT64_C(1) << 32;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if ((zl_u128)mid * mid >= n)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

void zl_permutation_init(struct zl_permutation *p, uint64_t n, uint64_t seed,
			 uint64_t number)
{
	/* Rounds above loaderx's four, and a pass through the mixer: epoch
	 * e + 1 of seed s must not be epoch e of another seed. */
	uint64_t key = zl_mix(seed, number, 4);

	p->n = n;
	p->net.lo_n = ceil_sqrt(n);
	p->net.hi_n = n / p->net.lo_n + (n % p->net.lo_n != 0);
	for (unsigned r = 0; r < ZL_ROUNDS; r++)
		p->net.key[r] = zl_mix(key, r, 5);
}

/* Fisher and Yates, with exact draws. */
static void small_fill(const struct zl_permutation *p, uint64_t first,
		       size_t count, uint64_t *ids)
{
	unsigned n = (unsigned)p->n;
	uint8_t table[TABLE_MAX];
	uint64_t word = 0, j;

	for (unsigned i = 0; i < n; i++)
		table[i] = (uint8_t)i;
	for (unsigned i = n; i > 1; i--) {
		uint8_t t = table[i - 1];

		while (!zl_below(zl_mix(p->net.key[0], word++, 6), i, &j))
			;
		table[i - 1] = table[j];
		table[j] = t;
	}
	for (size_t i = 0; i < count; i++)
		ids[i] = table[first + i];
}

/* Numbers under way through a network. Those that come out outside [0, n)
 * stay, and new ones fill the other lanes: a kernel always works on full
 * lanes, however often numbers walk. */
struct walk {
	unsigned count;
	uint64_t hi[ZL_LANES], lo[ZL_LANES];
	size_t slot[ZL_LANES]; /* where the image goes */
};

static void walk_keep(struct walk *w, unsigned from, unsigned to)
{
	w->hi[to] = w->hi[from];
	w->lo[to] = w->lo[from];
	w->slot[to] = w->slot[from];
}

void zl_permutation_fill(const struct zl_permutation *p,
			 const struct zl_kernels *k, uint64_t first,
			 size_t count, uint64_t *ids)
{
	uint64_t hi = first / p->net.lo_n, lo = first % p->net.lo_n;
	struct walk w = { 0 };
	size_t next = 0;

	if (p->n <= TABLE_MAX) {
		small_fill(p, first, count, ids);
		return;
	}
	while (w.count || next < count) {
		unsigned outside = 0;

		for (; w.count < ZL_LANES && next < count; w.count++) {
			w.hi[w.count] = hi;
			w.lo[w.count] = lo;
			w.slot[w.count] = next++;
			if (++lo == p->net.lo_n) {
				lo = 0;
				hi++;
			}
		}
		k->shuffle(&p->net, w.hi, w.lo);
		for (unsigned j = 0; j < w.count; j++) {
			uint64_t v = w.hi[j] * p->net.lo_n + w.lo[j];

			if (v < p->n)
				ids[w.slot[j]] = v;
			else
				walk_keep(&w, j, outside++);
		}
		w.count = outside;
	}
}

uint64_t zl_permutation_at(const struct zl_permutation *p, uint64_t i)
{
	uint64_t hi = i / p->net.lo_n, lo = i % p->net.lo_n;

	do {
		zl_network_run(&p->net, &hi, &lo);
		i = hi * p->net.lo_n + lo;
	} while (i >= p->n);
	return i;
}

void zl_cyclic_fill(const struct zl_kernels *k, uint64_t n, uint64_t seed,
		    uint64_t cycle, uint64_t first, size_t count, uint64_t *ids)
{
	uint64_t s = zl_mix(seed, cycle, 0);
	struct walk w = { 0 };
	size_t next = 0;
	unsigned half;

	if (n <= 1) {
		for (size_t i = 0; i < count; i++)
			ids[i] = 0;
		return;
	}
	half = (65 - (unsigned)__builtin_clzll(n - 1)) / 2;
	while (w.count || next < count) {
		unsigned outside = 0;

		for (; w.count < ZL_LANES && next < count; w.count++) {
			w.lo[w.count] = first + next;
			w.slot[w.count] = next++;
		}
		k->cyclic(s, half, w.lo);
		for (unsigned j = 0; j < w.count; j++) {
			if (w.lo[j] < n)
				ids[w.slot[j]] = w.lo[j];
			else
				walk_keep(&w, j, outside++);
		}
		w.count = outside;
	}
}
