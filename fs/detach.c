/* SPDX-License-Identifier: BSD-2-Clause
 * Signals that end the driver.
 *
 * fuse_session_exit wakes no thread of libfuse before 3.18. Unmounting does:
 * the kernel ends the connection once nobody uses the mount any more. */
#include "detach.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

extern char **environ;

/* mountinfo writes a space, tab, newline or backslash as three octal digits.
 */
static bool same_path(const char *escaped, const char *path)
{
	for (; *escaped && *path; path++) {
		int c = (unsigned char)*escaped++;

		if (c == '\\') {
			c = 0;
			for (int i = 0; i < 3 && *escaped; i++)
				c = c * 8 + (*escaped++ - '0');
		}
		if (c != (unsigned char)*path)
			return false;
	}
	return !*escaped && !*path;
}

/* Store the device of what is mounted on `path`, the topmost mount if there
 * are several, without touching that mount: it may not be served. */
static bool find_device(const char *path, unsigned *major, unsigned *minor)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	if (!f)
		return false;
	while (getline(&line, &room, f) > 0) {
		unsigned a, b;
		int at = 0;
		char *p;

		if (sscanf(line, "%*d %*d %u:%u %*s %n", &a, &b, &at) < 2 ||
		    !at)
			continue;
		p = line + at;
		p[strcspn(p, " ")] = '\0';
		if (same_path(p, path)) {
			*major = a;
			*minor = b;
			found = true;
		}
	}
	free(line);
	fclose(f);
	return found;
}

static void run_fusermount(const char *mountpoint)
{
	char program[] = "fusermount3", options[] = "-uqz", end[] = "--";
	char *dir = strdup(mountpoint);
	char *argv[] = { program, options, end, dir, NULL };
	posix_spawnattr_t attr;
	sigset_t none;
	pid_t pid;

	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &none);
	if (dir && !posix_spawnp(&pid, program, NULL, &attr, argv, environ))
		waitpid(pid, NULL, 0);
	posix_spawnattr_destroy(&attr);
	free(dir);
}

static void unmount(const struct detach *d)
{
	unsigned major, minor;

	/* Someone else may have unmounted ours and mounted another. */
	if (!find_device(d->mountpoint, &major, &minor) || major != d->major ||
	    minor != d->minor)
		return;
	if (umount2(d->mountpoint, MNT_DETACH | UMOUNT_NOFOLLOW) &&
	    errno == EPERM)
		run_fusermount(d->mountpoint);
}

static void *wait_for_signals(void *arg)
{
	struct detach *d = arg;
	int sig;

	while (sigwait(&d->signals, &sig) == 0) {
		if (d->stop)
			return NULL;
		if (d->unmounted) {
			say("ended by a second signal: files were still open");
			_exit(EXIT_SYSTEM);
		}
		d->unmounted = true;
		unmount(d);
	}
	return NULL;
}

void detach_block(struct detach *d)
{
	sigemptyset(&d->signals);
	sigaddset(&d->signals, SIGTERM);
	sigaddset(&d->signals, SIGINT);
	sigaddset(&d->signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &d->signals, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int detach_start(struct detach *d, const char *mountpoint)
{
	d->mountpoint = mountpoint;
	d->unmounted = false;
	d->stop = false;
	if (!find_device(mountpoint, &d->major, &d->minor))
		return -ENOENT;
	return -pthread_create(&d->thread, NULL, wait_for_signals, d);
}

void detach_stop(struct detach *d)
{
	d->stop = true;
	pthread_kill(d->thread, SIGTERM);
	pthread_join(d->thread, NULL);
}
