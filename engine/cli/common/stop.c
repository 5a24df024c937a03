/* SPDX-License-Identifier: BSD-2-Clause
 * A signal ends the command at once: training a dictionary, a record at level
 * 22, a read of a pipe or a sync can take minutes, and none can be told. */
#include "stop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "screen.h"

#define TRIES 1000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *unfinished; /* under lock */
static sigset_t signals;

static void remove_files(int fd)
{
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
}

/* The name goes first: what has lost it cannot be published any more, and what
 * has been published is not there. Files may still be made in the directory
 * until it is gone. */
static void remove_unfinished(const char *path)
{
	char *dead;

	if (!unlink(path) || errno == ENOENT || !(dead = strdup(path)))
		return;
	/* ".zrtmp" becomes ".zrend", which is no longer. */
	memcpy(dead + strlen(dead) - 3, "end", 3);
	if (rename(path, dead)) {
		free(dead);
		return;
	}
	for (int i = 0; i < TRIES; i++) {
		remove_files(open(dead, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
		if (!rmdir(dead) || (errno != ENOTEMPTY && errno != EEXIST))
			break;
	}
	free(dead);
}

static void *watch(void *arg)
{
	int sig;

	(void)arg;
	while (sigwait(&signals, &sig))
		;
	atomic_store(&cli_ended, true);
	pthread_mutex_lock(&lock);
	if (unfinished)
		remove_unfinished(unfinished);
	signal(sig, SIG_DFL);
	pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
	screen_leave();
	kill(getpid(), sig);
	_exit(128 + sig); /* not reached */
}

void stop_catch(void)
{
	static const int each[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction old;
	pthread_t thread;
	sigset_t before;

	sigemptyset(&signals);
	/* nohup and & ask for signals to be ignored. */
	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++)
		if (sigaction(each[i], NULL, &old) || old.sa_handler != SIG_IGN)
			sigaddset(&signals, each[i]);
	pthread_sigmask(SIG_BLOCK, &signals, &before);
	if (pthread_create(&thread, NULL, watch, NULL))
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	else
		pthread_detach(thread);
}

void stop_hold(void)
{
	pthread_mutex_lock(&lock);
}

void stop_release(const char *path)
{
	unfinished = path ? strdup(path) : NULL;
	pthread_mutex_unlock(&lock);
}

void stop_discard(void)
{
	pthread_mutex_lock(&lock);
	if (unfinished)
		remove_unfinished(unfinished);
	pthread_mutex_unlock(&lock);
	stop_done();
}

void stop_done(void)
{
	pthread_mutex_lock(&lock);
	free(unfinished);
	unfinished = NULL;
	pthread_mutex_unlock(&lock);
}

void stop_wait(void)
{
	while (atomic_load(&cli_ended))
		pause();
}
