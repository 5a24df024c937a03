/* SPDX-License-Identifier: BSD-2-Clause
 * The thread that tells the kernel what it did not ask for. */
#include "push.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attr.h"
#include "base/clock.h"
#include "base/name.h"
#include "files/composed.h"
#include "files/image.h"
#include "files/worker.h"
#include "order.h"
#include "tree/gather.h"
#include "tree/streams.h"

/* Ahead of a reader; more only waits in the cache of the processor. */
#define RECORDS_AHEAD 32u
/* Buffers that are left for the next record. */
#define KEEP ((size_t)8 << 20)
/* Of files that are made of several records: what the kernel reads at once. */
#define PIECE ((size_t)128 << 10)
/* What the kernel asks for ahead of the reader by itself, and some more. */
#define PIECES_LEAD 8
#define FORGET_MAX 8
#define FORGET_AFTER_MS 50
/* The kernel does not know the files of a reader that did not list them: ask
 * again only after so many records. */
#define UNKNOWN_PAUSE 64u

struct push {
	struct mount *m;
	struct fuse_session *se;
	pthread_t thread;
	_Atomic uint64_t records, bytes;
	atomic_bool known; /* the kernel knew the last record */
	pthread_mutex_t lock;
	pthread_cond_t work;
	/* All below is under `lock`, which is never held in the kernel. */
	bool idle, stop;
	bool crowded;   /* names of gather/ are to be dropped */
	unsigned pause; /* records to be seen before anything is pushed */
	struct timespec forget_at;
	unsigned forget_count;
	uint64_t forget[FORGET_MAX];
	struct order order;
};

static int store(struct push *p, uint64_t ino, uint64_t off, const void *data,
		 size_t len)
{
	struct fuse_bufvec v = FUSE_BUFVEC_INIT(len);

	v.buf[0].mem = (void *)(uintptr_t)data;
	return fuse_lowlevel_notify_store(p->se, ino, (off_t)off, &v, 0);
}

/* Of what the kernel was told. */
static int64_t counted(struct push *p, int rc, size_t len, unsigned records)
{
	if (rc)
		return rc;
	atomic_fetch_add(&p->records, records);
	atomic_fetch_add(&p->bytes, len);
	return (int64_t)len;
}

/* Records are listed together: only where the kernel did not know the last one,
 * an empty store asks, for little, whether it knows this one. */
static int ask(struct push *p, uint64_t ino)
{
	int rc = p->known ? 0 : store(p, ino, 0, NULL, 0);

	p->known = !rc;
	return rc;
}

int64_t push_now(struct push *p, const struct node *n)
{
	const struct stream *s = mount_stream(p->m, n);
	struct worker *w = mount_worker(p->m);
	struct zr_error err = { .message = "" };
	struct image image = { NULL, 0 };
	uint64_t ino = tree_ino(n), room = image_room(s, n->index);
	unsigned char *buf;
	int rc;

	if (!w || worker_use(w, s) ||
	    zr_record_bound(s->container, n->index) > p->m->opt->push_bytes)
		return -ENOMEM;
	rc = ask(p, ino);
	if (rc)
		return rc;
	buf = worker_reply(w, (size_t)room);
	rc = buf ? image_load(w, s, n->index, buf, &image, &err) : -ENOMEM;
	if (!rc) {
		rc = store(p, ino, 0, image.data, image.len);
		p->known = !rc;
	}
	if (room > KEEP)
		worker_trim(w);
	return counted(p, rc, image.len, 1);
}

/* A file that its reader has open is known to the kernel. */
static int64_t push_piece(struct push *p, const struct node *n, uint64_t piece)
{
	struct stream *s = mount_stream(p->m, n);
	struct worker *w = mount_worker(p->m);
	struct zr_error err = { .message = "" };
	const void *data;
	struct stat st;
	size_t len = 0;
	int rc;

	if (!w || worker_use(w, s))
		return -ENOMEM;
	/* Whoever makes a record that both want must not be waited for. */
	w->wait = false;
	rc = attr_get(p->m, n, &st);
	if (!rc)
		rc = composed_read(p->m, w, s, n, (uint64_t)st.st_size,
				   piece * PIECE, PIECE, &data, &len, &err);
	if (!rc && len)
		rc = store(p, tree_ino(n), piece * PIECE, data, len);
	return counted(p, rc, len, 0);
}

static int64_t push_one(struct push *p, uint64_t of, uint64_t id)
{
	struct node n;

	if (!memory_is_free(&p->m->memory) || !tree_node(of, &n))
		return -ENOMEM;
	if (n.kind != NODE_RECORDS)
		return push_piece(p, &n, id);
	n.kind = NODE_RECORD;
	n.index = id;
	return push_now(p, &n);
}

static bool is_records(uint64_t of)
{
	struct node n;

	return tree_node(of, &n) && n.kind == NODE_RECORDS;
}

/* Called and returns with the lock. */
static void one_record(struct push *p, uint64_t of, uint64_t id)
{
	int64_t done;

	pthread_mutex_unlock(&p->lock);
	done = push_one(p, of, id);
	pthread_mutex_lock(&p->lock);
	if (done == -ENOENT && is_records(of))
		p->pause = UNKNOWN_PAUSE;
	order_pushed(&p->order, of, id, done > 0 ? (uint64_t)done : 0);
}

static bool is_past(const struct timespec *t)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > t->tv_sec ||
	       (now.tv_sec == t->tv_sec && now.tv_nsec >= t->tv_nsec);
}

static void one_forget(struct push *p)
{
	uint64_t ino = p->forget[--p->forget_count];

	pthread_mutex_unlock(&p->lock);
	fuse_lowlevel_notify_inval_inode(p->se, ino, 0, 0);
	pthread_mutex_lock(&p->lock);
}

/* To drop a name the kernel locks the directory, and so waits until those that
 * look up in it have their answers. With the directory it drops all names, and
 * finds it again when next asked; but who works in it does not ask. */
static void drop_name(struct push *p, uint32_t stream, bool all, char *name,
		      size_t len)
{
	struct node dir = { .kind = NODE_GATHERS, .stream = stream };
	struct node above = tree_parent(&dir);
	bool dense = mount_stream(p->m, &dir)->dense;

	if (all && !fuse_lowlevel_notify_inval_entry(p->se, tree_ino(&above),
						     "gather", 6))
		return;
	memcpy(name + len, dense ? ".npy" : ".npz", 5);
	fuse_lowlevel_notify_inval_entry(p->se, tree_ino(&dir), name, len + 4);
}

static void one_name(struct push *p)
{
	char name[NAME_LENGTH_MAX + 1];
	uint32_t stream;
	bool more, all;
	size_t len;

	p->crowded = false;
	pthread_mutex_unlock(&p->lock);
	more = gather_excess(p->m->gathers, &stream, &all, name, &len);
	if (more)
		drop_name(p, stream, all, name, len);
	pthread_mutex_lock(&p->lock);
	p->crowded |= more;
}

static void wait_for_work(struct push *p)
{
	p->idle = true;
	if (p->forget_count)
		pthread_cond_timedwait(&p->work, &p->lock, &p->forget_at);
	else
		pthread_cond_wait(&p->work, &p->lock);
	p->idle = false;
}

static void *run(void *arg)
{
	struct push *p = arg;
	uint64_t of, id;

	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		if (p->crowded)
			one_name(p);
		if (order_take(&p->order, &of, &id))
			one_record(p, of, id);
		else if (p->forget_count && is_past(&p->forget_at))
			one_forget(p);
		else if (!p->crowded)
			wait_for_work(p);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Called with the lock. */
static void wake(struct push *p)
{
	if (p->idle)
		pthread_cond_signal(&p->work);
	p->idle = false;
}

static void names_to_drop(void *ctx)
{
	struct push *p = ctx;

	pthread_mutex_lock(&p->lock);
	p->crowded = true;
	wake(p);
	pthread_mutex_unlock(&p->lock);
}

int push_start(struct push **out, struct mount *m, struct fuse_session *se)
{
	struct push *p = calloc(1, sizeof(*p));
	int rc;

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->m = m;
	p->se = se;
	pthread_mutex_init(&p->lock, NULL);
	cond_init_monotonic(&p->work);
	rc = pthread_create(&p->thread, NULL, run, p);
	if (rc) {
		pthread_cond_destroy(&p->work);
		pthread_mutex_destroy(&p->lock);
		free(p);
		return -rc;
	}
	gathers_watch(m->gathers, names_to_drop, p);
	*out = p;
	return 0;
}

void push_stop(struct push *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	wake(p);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	pthread_cond_destroy(&p->work);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* Called with the lock. */
static void seen(struct push *p, const struct node *of, uint64_t id,
		 uint64_t count, uint64_t lead)
{
	struct order_limits limits = { lead, RECORDS_AHEAD,
				       p->m->opt->push_bytes };

	if (order_seen(&p->order, tree_ino(of), id, count, &limits))
		wake(p);
}

static void seen_record(struct push *p, const struct stream *s,
			const struct node *n)
{
	struct node of = { .kind = NODE_RECORDS, .stream = n->stream };
	uint64_t size = zr_record_bound(s->container, n->index);

	if (!size || size > p->m->opt->push_bytes)
		return;
	pthread_mutex_lock(&p->lock);
	if (p->pause)
		p->pause--;
	else
		seen(p, &of, n->index, s->info->records, 0);
	pthread_mutex_unlock(&p->lock);
}

/* The last piece that the READ touches; how many there are shows at the end. */
static void seen_piece(struct push *p, const struct node *n, uint64_t end)
{
	/* A window that someone has set is larger than pieces are of use. */
	if (!p->m->opt->push_bytes || p->m->opt->readahead_kib)
		return;
	pthread_mutex_lock(&p->lock);
	seen(p, n, (end - 1) / PIECE, UINT64_MAX, PIECES_LEAD);
	pthread_mutex_unlock(&p->lock);
}

void push_seen(struct push *p, const struct stream *s, const struct node *n,
	       uint64_t off, size_t size)
{
	if (n->kind == NODE_RECORD && !off)
		seen_record(p, s, n);
	else if (size && (n->kind == NODE_ALL || n->kind == NODE_BATCH ||
			  n->kind == NODE_GATHER))
		seen_piece(p, n, off + size);
}

void push_forget(struct push *p, uint64_t ino)
{
	bool known = false;

	pthread_mutex_lock(&p->lock);
	for (unsigned i = 0; i < p->forget_count; i++)
		known |= p->forget[i] == ino;
	if (!known && p->forget_count < FORGET_MAX) {
		clock_gettime(CLOCK_MONOTONIC, &p->forget_at);
		p->forget_at.tv_nsec += FORGET_AFTER_MS * 1000000L;
		p->forget_at.tv_sec += p->forget_at.tv_nsec / 1000000000;
		p->forget_at.tv_nsec %= 1000000000;
		p->forget[p->forget_count++] = ino;
		wake(p);
	}
	pthread_mutex_unlock(&p->lock);
}

uint64_t push_records(const struct push *p)
{
	return p->records;
}

uint64_t push_bytes(const struct push *p)
{
	return p->bytes;
}
