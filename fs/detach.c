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
static void unescape(char *path)
{
	char *to = path;

	while (*path) {
		int c = (unsigned char)*path++;

		if (c == '\\') {
			c = 0;
			for (int i = 0; i < 3 && *path; i++)
				c = c * 8 + (*path++ - '0');
		}
		*to++ = (char)c;
	}
	*to = '\0';
}

/* A mount: its device, and where it is. */
struct place {
	unsigned major, minor;
	char *path; /* in the line that was read */
};

static bool parse_line(char *line, struct place *m)
{
	int at = 0;

	if (sscanf(line, "%*d %*d %u:%u %*s %n", &m->major, &m->minor, &at) <
		    2 ||
	    !at)
		return false;
	m->path = line + at;
	m->path[strcspn(m->path, " ")] = '\0';
	unescape(m->path);
	return true;
}

/* The topmost mount at `path`, or, without a path, where the mount of a device
 * is: *path is then allocated. Touches no mount: it may not be served. */
static bool look_up(const char *path, struct place *m)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, *where = NULL;
	size_t room = 0;
	bool found = false;

	if (!f)
		return false;
	while (getline(&line, &room, f) > 0) {
		struct place one;

		if (!parse_line(line, &one))
			continue;
		if (path ? strcmp(one.path, path) != 0
			 : one.major != m->major || one.minor != m->minor)
			continue;
		m->major = one.major;
		m->minor = one.minor;
		if (!path) {
			free(where);
			where = strdup(one.path);
		}
		found = true;
	}
	free(line);
	fclose(f);
	m->path = where;
	return found && (path || where);
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

/* The mount may have been moved with a directory above it, or be gone; and it
 * must be on top where it is, or another one would be unmounted. Returns
 * whether there is nothing left to unmount. */
static bool unmount(const struct detach *d)
{
	struct place ours = { d->major, d->minor, NULL }, top;
	bool done = true;

	if (!look_up(NULL, &ours))
		return true;
	if (!look_up(ours.path, &top) || top.major != d->major ||
	    top.minor != d->minor) {
		say("cannot unmount %s: another file system is mounted over "
		    "it",
		    ours.path);
		done = false;
	} else if (umount2(ours.path, MNT_DETACH | UMOUNT_NOFOLLOW) &&
		   errno == EPERM) {
		run_fusermount(ours.path);
	}
	free(ours.path);
	return done;
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
		d->unmounted = unmount(d);
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
	struct place m;

	d->unmounted = false;
	d->stop = false;
	if (!look_up(mountpoint, &m))
		return -ENOENT;
	d->major = m.major;
	d->minor = m.minor;
	return -pthread_create(&d->thread, NULL, wait_for_signals, d);
}

void detach_stop(struct detach *d)
{
	d->stop = true;
	pthread_kill(d->thread, SIGTERM);
	pthread_join(d->thread, NULL);
}
