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
/* From here on the kernel is told to drop names, this many for each new one. It
 * has dropped them before it tells so. */
#define BYTES_KEPT ((size_t)16 << 20)
#define DROPS 2
#define EXCESS_MAX 256
/* From here on all names of a directory at once: many processes that look up
 * make more than it drops. */
#define BYTES_MANY ((size_t)32 << 20)
/* Here all are in use: no new one. */
#define BYTES_MAX ((size_t)64 << 20)

struct gathers {
	pthread_mutex_t lock;
	/* All below is under `lock`. */
	uint64_t next; /* number of the next one */
	uint64_t seed; /* whoever may look up must not choose the buckets */
	size_t count, mask;
	struct gather **text, **number; /* mask + 1 chains each */
	struct recent recent;
	size_t bytes;
	size_t excess; /* so many of the oldest are to be dropped */
	void (*crowded)(void *ctx);
	void *ctx;
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

static size_t bytes_of(const struct gather *x)
{
	/* What malloc adds, and the buckets, are about two more numbers. */
	return sizeof(*x) + x->len + 16 +
	       x->selection.range_count * sizeof(x->selection.ranges[0]);
}

static void use(struct gathers *g, struct gather *x)
{
	x->refs++;
	recent_remove(&g->recent, &x->recent);
	recent_add(&g->recent, &x->recent);
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

/* Called for each new one. Returns true if some are to be dropped. */
static bool is_crowded(struct gathers *g)
{
	if (g->bytes < BYTES_KEPT)
		g->excess = 0;
	else if (g->excess < EXCESS_MAX)
		g->excess += DROPS;
	return g->excess;
}

static void add(struct gathers *g, struct gather *x)
{
	x->number = g->next++;
	link_in(g, x);
	recent_add(&g->recent, &x->recent);
	g->bytes += bytes_of(x);
	if (++g->count > g->mask)
		grow(g);
}

int gather_find(struct gathers *g, uint32_t stream, const char *text,
		size_t len, uint64_t records, const struct gather **out)
{
	struct gather *x, *mine = NULL;
	bool crowded = false;
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
		crowded = g->crowded && is_crowded(g);
		if (g->bytes < BYTES_MAX) {
			x = mine;
			mine = NULL;
			add(g, x);
		}
	}
	if (x)
		use(g, x);
	pthread_mutex_unlock(&g->lock);
	if (mine)
		destroy(mine);
	if (crowded)
		g->crowded(g->ctx);
	*out = x;
	return x ? 0 : -ENOMEM;
}

void gathers_watch(struct gathers *g, void (*crowded)(void *ctx), void *ctx)
{
	g->crowded = crowded;
	g->ctx = ctx;
}

bool gather_excess(struct gathers *g, uint32_t *stream, bool *all, char *text,
		   size_t *len)
{
	struct gather *x;

	pthread_mutex_lock(&g->lock);
	if (g->bytes < BYTES_KEPT)
		g->excess = 0;
	x = g->excess ? RECENT_OF(g->recent.oldest, struct gather, recent)
		      : NULL;
	if (x) {
		g->excess--;
		*all = g->bytes >= BYTES_MANY;
		*stream = x->stream;
		*len = x->len;
		memcpy(text, x->text, x->len);
		/* If it stays, the next one is to be dropped. */
		recent_remove(&g->recent, &x->recent);
		recent_add(&g->recent, &x->recent);
	}
	pthread_mutex_unlock(&g->lock);
	return x;
}

const struct gather *gather_hold(struct gathers *g, uint64_t number)
{
	struct gather *x;

	pthread_mutex_lock(&g->lock);
	x = find_number(g, number);
	if (x)
		use(g, x);
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
		recent_remove(&g->recent, &x->recent);
		g->bytes -= bytes_of(x);
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
