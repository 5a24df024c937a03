/* SPDX-License-Identifier: BSD-2-Clause
 * Requests that wait for memory: a thread that answers them when there is
 * some. */
#include "park.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "files/cache.h"

/* How often they are tried, and how often a cache over its budget is looked
 * at once nobody reads. */
#define RETRY_MS 5
#define EXPIRE_MS 500

struct park {
	struct mount *m;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work;
	/* All below is under `lock`, which is not held while one is tried. */
	bool stop;
	bool over; /* the cache may have a block beyond its budget */
	struct parked *first, **last;
};

/* Called with the lock. */
static void sleep_ms(struct park *p, long ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&p->work, &p->lock, &until);
}

static bool try(struct park *p, struct parked *r)
{
	/* The reader was killed. */
	if (fuse_req_interrupted(r->req)) {
		fuse_reply_err(r->req, EINTR);
		return true;
	}
	return r->again(p->m, r);
}

/* Those that came first are tried first: they get the room that there is. */
static void try_all(struct park *p)
{
	struct parked **at = &p->first, *r;
	bool done;

	while ((r = *at) && !p->stop) {
		pthread_mutex_unlock(&p->lock);
		done = try(p, r);
		pthread_mutex_lock(&p->lock);
		if (!done) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		if (!r->next)
			p->last = at;
		free(r);
	}
}

static void *run(void *arg)
{
	struct park *p = arg;

	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		if (p->first) {
			try_all(p);
			if (p->first && !p->stop)
				sleep_ms(p, RETRY_MS);
		} else if (p->over) {
			sleep_ms(p, EXPIRE_MS);
			p->over = cache_expire(p->m->images);
		} else {
			pthread_cond_wait(&p->work, &p->lock);
		}
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* The cache has a block beyond its budget: see that it goes in time. */
static void watch(void *ctx)
{
	struct park *p = ctx;

	pthread_mutex_lock(&p->lock);
	if (!p->over)
		pthread_cond_signal(&p->work);
	p->over = true;
	pthread_mutex_unlock(&p->lock);
}

int park_start(struct park **out, struct mount *m)
{
	struct park *p = calloc(1, sizeof(*p));
	int rc;

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->m = m;
	p->last = &p->first;
	pthread_mutex_init(&p->lock, NULL);
	cond_init_monotonic(&p->work);
	rc = pthread_create(&p->thread, NULL, run, p);
	if (rc) {
		free(p);
		return -rc;
	}
	cache_on_giant(m->images, watch, p);
	*out = p;
	return 0;
}

void park_stop(struct park *p)
{
	if (!p)
		return;
	cache_on_giant(p->m->images, NULL, NULL);
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_signal(&p->work);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	for (struct parked *r = p->first, *next; r; r = next) {
		next = r->next;
		fuse_reply_err(r->req, EIO);
		free(r);
	}
	pthread_cond_destroy(&p->work);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

void park_add(struct park *p, const struct parked *request)
{
	struct parked *r = malloc(sizeof(*r));

	if (!r) {
		fuse_reply_err(request->req, ENOMEM);
		return;
	}
	*r = *request;
	r->next = NULL;
	pthread_mutex_lock(&p->lock);
	*p->last = r;
	p->last = &r->next;
	pthread_cond_signal(&p->work);
	pthread_mutex_unlock(&p->lock);
}
