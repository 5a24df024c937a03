/* SPDX-License-Identifier: BSD-2-Clause
 * What serving threads use: caches they share, scratch each has alone. */
#include "worker.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "base/say.h"
#include "cache.h"
#include "tree/gather.h"

/* Buffers grow in steps, so that a READ a little longer than the last does
 * not allocate again. */
#define BUFFER_STEP ((size_t)64 << 10)
#define LAYOUT_BYTES ((uint64_t)8 << 20)
#define THREADS_DEFAULT_MAX 16
#define EXECUTOR_MAX 8

unsigned mount_threads(const struct options *opt)
{
	cpu_set_t cpus;
	unsigned n = 2;

	if (opt->single)
		return 1;
	if (opt->threads)
		return opt->threads;
	if (!sched_getaffinity(0, sizeof(cpus), &cpus))
		n = (unsigned)CPU_COUNT(&cpus);
	if (n > THREADS_DEFAULT_MAX)
		n = THREADS_DEFAULT_MAX;
	return n < 2 ? 2 : n;
}

/* Not more than a READ of a large file keeps busy. */
static int executor(struct mount *m)
{
	unsigned threads = mount_threads(m->opt);

	if (threads == 1)
		return 0;
	return zr_executor_new(&m->executor,
			       threads < EXECUTOR_MAX ? threads : EXECUTOR_MAX);
}

int mount_init(struct mount *m)
{
	if (pthread_key_create(&m->worker_key, NULL))
		return -ENOMEM;
	m->ready = true;
	memory_open(&m->memory);
	pthread_mutex_init(&m->lock, NULL);
	m->images = cache_new(m->opt->cache_bytes);
	m->layouts = cache_new(LAYOUT_BYTES);
	m->gathers = gathers_new();
	if (!m->images || !m->layouts || !m->gathers)
		return -ENOMEM;
	return executor(m);
}

static void worker_free(struct worker *w)
{
	for (size_t i = 0; i < WORKER_READERS; i++)
		zr_reader_free(w->readers[i].reader);
	free(w->reply);
	free(w->scratch);
	free(w);
}

void mount_free(struct mount *m)
{
	if (!m->ready)
		return;
	for (struct worker *w = m->workers, *next; w; w = next) {
		next = w->next;
		worker_free(w);
	}
	m->workers = NULL;
	cache_free(m->images);
	cache_free(m->layouts);
	gathers_free(m->gathers);
	zr_executor_free(m->executor);
	memory_close(&m->memory);
	pthread_key_delete(m->worker_key);
	pthread_mutex_destroy(&m->lock);
}

struct worker *mount_worker(struct mount *m)
{
	struct worker *w = pthread_getspecific(m->worker_key);

	if (w)
		return w;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->wait = true;
	w->executor = m->executor;
	if (pthread_setspecific(m->worker_key, w)) {
		worker_free(w);
		return NULL;
	}
	pthread_mutex_lock(&m->lock);
	w->next = m->workers;
	m->workers = w;
	pthread_mutex_unlock(&m->lock);
	return w;
}

int worker_use(struct worker *w, const struct stream *s)
{
	size_t i = s->number % WORKER_READERS;

	if (w->readers[i].stream != s) {
		zr_reader_free(w->readers[i].reader);
		w->readers[i].reader = NULL;
		w->readers[i].stream = NULL;
		if (zr_reader_new(&w->readers[i].reader, s->container,
				  w->executor))
			return -ENOMEM;
		w->readers[i].stream = s;
	}
	w->reader = w->readers[i].reader;
	return 0;
}

static unsigned char *room(unsigned char **p, size_t *have, size_t size)
{
	if (size > *have) {
		free(*p);
		*have = 0;
		size = (size + BUFFER_STEP - 1) / BUFFER_STEP * BUFFER_STEP;
		*p = malloc(size);
		if (*p)
			*have = size;
	}
	return *p;
}

unsigned char *worker_reply(struct worker *w, size_t size)
{
	return room(&w->reply, &w->reply_size, size);
}

unsigned char *worker_scratch(struct worker *w, size_t size)
{
	return room(&w->scratch, &w->scratch_size, size);
}

void worker_trim(struct worker *w)
{
	if (w->reply_size > WORKER_KEEP) {
		free(w->reply);
		w->reply = NULL;
		w->reply_size = 0;
	}
	zr_reader_trim(w->reader, WORKER_KEEP);
}

void count_request(struct mount *m, enum request kind)
{
	struct worker *w = mount_worker(m);

	/* Only this thread writes: no need to lock the bus. */
	if (w)
		atomic_store_explicit(
			&w->requests[kind],
			atomic_load_explicit(&w->requests[kind],
					     memory_order_relaxed) +
				1,
			memory_order_relaxed);
}

void count_sum(struct mount *m, uint64_t sum[static REQUESTS])
{
	for (int i = 0; i < REQUESTS; i++)
		sum[i] = 0;
	pthread_mutex_lock(&m->lock);
	for (struct worker *w = m->workers; w; w = w->next) {
		for (int i = 0; i < REQUESTS; i++)
			sum[i] += atomic_load_explicit(&w->requests[i],
						       memory_order_relaxed);
	}
	pthread_mutex_unlock(&m->lock);
}

void complain(struct mount *m, const struct zr_error *err)
{
	uint64_t second, last = m->complained;
	struct timespec now;
	uint64_t more;

	atomic_fetch_add(&m->errors, 1);
	if (!err->message[0])
		return;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	/* A bad disk must not fill the log: one line a second. */
	second = (uint64_t)now.tv_sec + 1;
	if (last == second ||
	    !atomic_compare_exchange_strong(&m->complained, &last, second)) {
		atomic_fetch_add(&m->complaints, 1);
		return;
	}
	more = atomic_exchange(&m->complaints, 0);
	if (more)
		say("%s (errors not told since the last: %llu)",
		    err->message, (unsigned long long)more);
	else
		say("%s", err->message);
}

int errno_of(int rc)
{
	switch (-rc) {
	case 0:
	case ENOENT:
	case ENOTDIR:
	case EISDIR:
	case ENAMETOOLONG:
	case ENOMEM:
	case EFBIG:
	case EROFS:
	case ESTALE:
		return -rc;
	default:
		return EIO;
	}
}
