/* SPDX-License-Identifier: BSD-2-Clause
 * -o preload: the kernel is given the records that fit before anyone asks. */
#include "preload.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/helper.h"

#define POLL_MS 5
/* The kernel keeps whole pages, and about 1 KiB to know a file. */
#define PAGE 4096u
#define FILE_BYTES 1024u

struct preload {
	struct mount *m;
	struct push *push;
	struct memory memory; /* of the thread */
	uint64_t budget;      /* bytes */
	int fd;               /* the socket to the process */
	pid_t pid;
	bool running;
	atomic_bool stop;
	pthread_t thread;
};

/* What the process works on. */
struct lister {
	const struct mount *m;
	const char *mountpoint;
	uint64_t left; /* names that may be listed */
};

/* What a file of so many bytes takes in the kernel. */
static uint64_t cost(uint64_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE + FILE_BYTES;
}

/* The kernel asks for READDIRPLUS. */
static void list(struct lister *l, const char *dir)
{
	DIR *d = opendir(dir);

	if (!d)
		return;
	while (l->left && readdir(d))
		l->left--;
	closedir(d);
}

static void list_stream(struct lister *l, const struct stream *s)
{
	const char *records = s->layout == LAYOUT_FLAT ? "" : "/records";
	const char *name = s->name ? s->name : "";
	char *dir;

	if (asprintf(&dir, "%s%s%s%s", l->mountpoint, *name ? "/" : "", name,
		     records) < 0)
		return;
	list(l, dir);
	free(dir);
}

static void list_all(int fd, void *arg)
{
	struct lister *l = arg;

	(void)fd;
	for (uint32_t i = 0; i < l->m->stream_count; i++)
		list_stream(l, &l->m->streams[i]);
}

int preload_new(struct preload **out, struct mount *m, const char *mountpoint)
{
	struct lister l = { .m = m, .mountpoint = mountpoint };
	struct preload *p;
	int fd;

	*out = NULL;
	if (!m->opt->preload)
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->m = m;
	memory_open(&p->memory);
	p->budget = memory_available(&p->memory) / 2;
	l.left = p->budget / cost(1);
	fd = helper_start(&p->pid, "zrecord-list", false, list_all, &l);
	if (fd < 0) {
		memory_close(&p->memory);
		free(p);
		return fd;
	}
	p->fd = fd;
	*out = p;
	return 0;
}

/* Returns whether it has listed everything; false: to stop. */
static bool wait_for_listing(struct preload *p)
{
	const struct timespec pause = { .tv_nsec = POLL_MS * 1000000 };

	while (!p->stop) {
		if (waitpid(p->pid, NULL, WNOHANG))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* Returns whether to go on. */
static bool one_record(struct preload *p, const struct stream *s, uint64_t id)
{
	struct node n = { .kind = NODE_RECORD,
			  .stream = s->number,
			  .index = id };
	uint64_t size = zr_record_bound(s->container, id);
	int64_t done;

	if (size > p->m->opt->push_bytes)
		return true;
	if (size > p->budget || !memory_is_free(&p->memory))
		return false;
	done = push_now(p->push, &n);
	if (done > 0)
		p->budget -= cost((uint64_t)done) < p->budget
				     ? cost((uint64_t)done)
				     : p->budget;
	return true;
}

static void *run(void *arg)
{
	struct preload *p = arg;

	if (!wait_for_listing(p))
		return NULL;
	for (uint32_t i = 0; i < p->m->stream_count; i++) {
		const struct stream *s = &p->m->streams[i];

		for (uint64_t id = 0; id < s->info->records; id++) {
			if (p->stop || !one_record(p, s, id))
				return NULL;
		}
	}
	return NULL;
}

int preload_start(struct preload *p, struct push *push)
{
	int rc;

	if (!p)
		return 0;
	p->push = push;
	rc = pthread_create(&p->thread, NULL, run, p);
	p->running = !rc;
	return -rc;
}

void preload_stop(struct preload *p)
{
	if (!p)
		return;
	p->stop = true;
	if (p->running)
		pthread_join(p->thread, NULL);
	memory_close(&p->memory);
	close(p->fd);
	free(p);
}
