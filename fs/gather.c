/* SPDX-License-Identifier: BSD-2-Clause
 * The selections that the kernel knows: the files of gather/. */
#include "gather.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "tree.h"

#define BUCKETS_MIN ((size_t)64)

struct gathers {
	pthread_mutex_t lock;
	/* All below is under `lock`. */
	uint64_t next; /* number of the next one */
	uint64_t seed; /* whoever may look up must not choose the buckets */
	size_t count, mask;
	struct gather **text, **number; /* mask + 1 chains each */
};

/* Numbers start anywhere, so that a file handle of an earlier mount is most
 * likely stale, and not another selection. */
static void begin(struct gathers *g)
{
	uint64_t random[2] = { 0, 0x9E3779B97F4A7C15u };

	if (getrandom(random, sizeof(random), GRND_NONBLOCK) < 0)
		random[0] = (uint64_t)(uintptr_t)g >> 4;
	g->next = random[0] % (TREE_GATHER_MAX / 2);
	g->seed = random[1];
}

struct gathers *gathers_new(void)
{
	struct gathers *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->mask = BUCKETS_MIN - 1;
	g->text = calloc(BUCKETS_MIN, sizeof(g->text[0]));
	g->number = calloc(BUCKETS_MIN, sizeof(g->number[0]));
	if (!g->text || !g->number) {
		free(g->text);
		free(g->number);
		free(g);
		return NULL;
	}
	begin(g);
	pthread_mutex_init(&g->lock, NULL);
	return g;
}

static void destroy(struct gather *x)
{
	zr_selection_free(&x->selection);
	free(x);
}

void gathers_free(struct gathers *g)
{
	if (!g)
		return;
	for (size_t i = 0; i <= g->mask; i++) {
		for (struct gather *x = g->number[i], *next; x; x = next) {
			next = x->by_number;
			destroy(x);
		}
	}
	free(g->text);
	free(g->number);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

static size_t hash(const struct gathers *g, uint32_t stream, const char *text,
		   size_t len)
{
	uint64_t h = g->seed ^ stream;

	for (size_t i = 0; i < len; i++) {
		h = (h ^ (unsigned char)text[i]) * 0xD6E8FEB86659FD93u;
		h ^= h >> 32;
	}
	return (size_t)h;
}

static struct gather **text_bucket(struct gathers *g, const struct gather *x)
{
	return &g->text[hash(g, x->stream, x->text, x->len) & g->mask];
}

static struct gather **number_bucket(struct gathers *g, uint64_t number)
{
	return &g->number[number & g->mask];
}

static void link_in(struct gathers *g, struct gather *x)
{
	struct gather **text = text_bucket(g, x);
	struct gather **number = number_bucket(g, x->number);

	x->by_text = *text;
	*text = x;
	x->by_number = *number;
	*number = x;
}

static void unlink_from(struct gathers *g, struct gather *x)
{
	struct gather **p = text_bucket(g, x);

	while (*p != x)
		p = &(*p)->by_text;
	*p = x->by_text;
	p = number_bucket(g, x->number);
	while (*p != x)
		p = &(*p)->by_number;
	*p = x->by_number;
}

/* Without memory the chains just become longer. */
static void grow(struct gathers *g)
{
	size_t size = 2 * (g->mask + 1), old = g->mask + 1;
	struct gather **text = calloc(size, sizeof(*text));
	struct gather **number = calloc(size, sizeof(*number));
	struct gather **from = g->number;

	if (!text || !number) {
		free(text);
		free(number);
		return;
	}
	free(g->text);
	g->text = text;
	g->number = number;
	g->mask = size - 1;
	for (size_t i = 0; i < old; i++) {
		for (struct gather *x = from[i], *next; x; x = next) {
			next = x->by_number;
			link_in(g, x);
		}
	}
	free(from);
}

static struct gather *find_text(struct gathers *g, uint32_t stream,
				const char *text, size_t len)
{
	struct gather *x = g->text[hash(g, stream, text, len) & g->mask];

	while (x && (x->stream != stream || x->len != len ||
		     memcmp(x->text, text, len) != 0))
		x = x->by_text;
	return x;
}

static struct gather *find_number(struct gathers *g, uint64_t number)
{
	struct gather *x = *number_bucket(g, number);

	while (x && x->number != number)
		x = x->by_number;
	return x;
}

static int make(struct gather **out, uint32_t stream, const char *text,
		size_t len, uint64_t records)
{
	struct gather *x = malloc(sizeof(*x) + len);
	int rc;

	if (!x)
		return -ENOMEM;
	*x = (struct gather){ .stream = stream, .len = len };
	memcpy(x->text, text, len);
	rc = zr_selection_parse(&x->selection, text, len, records, NULL);
	if (rc)
		free(x);
	else
		*out = x;
	return rc;
}

int gather_find(struct gathers *g, uint32_t stream, const char *text,
		size_t len, uint64_t records, const struct gather **out)
{
	struct gather *x, *mine = NULL;
	int rc;

	pthread_mutex_lock(&g->lock);
	x = find_text(g, stream, text, len);
	if (!x) {
		pthread_mutex_unlock(&g->lock);
		rc = make(&mine, stream, text, len, records);
		if (rc)
			return rc;
		pthread_mutex_lock(&g->lock);
		x = find_text(g, stream, text, len);
	}
	if (!x) {
		x = mine;
		mine = NULL;
		x->number = g->next++;
		link_in(g, x);
		if (++g->count > g->mask)
			grow(g);
	}
	x->refs++;
	pthread_mutex_unlock(&g->lock);
	if (mine)
		destroy(mine);
	*out = x;
	return 0;
}

const struct gather *gather_hold(struct gathers *g, uint64_t number)
{
	struct gather *x;

	pthread_mutex_lock(&g->lock);
	x = find_number(g, number);
	if (x)
		x->refs++;
	pthread_mutex_unlock(&g->lock);
	return x;
}

void gather_drop(struct gathers *g, uint64_t number, uint64_t refs)
{
	struct gather *x;

	pthread_mutex_lock(&g->lock);
	x = find_number(g, number);
	if (x && x->refs > refs) {
		x->refs -= refs;
		x = NULL;
	} else if (x) {
		unlink_from(g, x);
		g->count--;
	}
	pthread_mutex_unlock(&g->lock);
	if (x)
		destroy(x);
}

size_t gathers_count(struct gathers *g)
{
	size_t n;

	pthread_mutex_lock(&g->lock);
	n = g->count;
	pthread_mutex_unlock(&g->lock);
	return n;
}
