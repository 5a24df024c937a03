/* SPDX-License-Identifier: BSD-2-Clause
 * Where what is mounted, as the kernel tells it. */
#include "mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mounttype.h"

#define TABLE "/proc/self/mountinfo"

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

/* The path stays in the line that was read. */
static bool parse_line(char *line, struct place *p)
{
	const char *type = strstr(line, " - ");
	int at = 0;

	if (!type || sscanf(type, " - %63s", p->type) != 1 ||
	    sscanf(line, "%*d %*d %u:%u %*s %n", &p->major, &p->minor, &at) <
		    2 ||
	    !at)
		return false;
	p->path = line + at;
	p->path[strcspn(p->path, " ")] = '\0';
	unescape(p->path);
	return true;
}

/* The last mount at a path is on top. Returns -ENOSYS without a table. */
static int look_up(const char *path, unsigned major, unsigned minor,
		   struct place *found)
{
	FILE *f = fopen(TABLE, "re");
	struct place one;
	char *line = NULL;
	size_t room = 0;

	*found = (struct place){ .path = NULL };
	if (!f)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM
			       ? -errno
			       : -ENOSYS;
	while (getline(&line, &room, f) > 0) {
		if (!parse_line(line, &one))
			continue;
		if (path ? strcmp(one.path, path) != 0
			 : one.major != major || one.minor != minor)
			continue;
		free(found->path);
		one.path = strdup(one.path);
		*found = one;
	}
	free(line);
	fclose(f);
	return found->path ? 0 : -ENOENT;
}

/* The kernel alone answers, so it may be dead, or not begun. */
static int look_at(const char *path, struct place *found)
{
	struct statx st;

	if (statx(AT_FDCWD, path,
		  AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		  MOUNTTYPE_ID, &st))
		return -errno;
	/* Not told before Linux 5.8. */
	if (st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT &&
	    !(st.stx_attributes & STATX_ATTR_MOUNT_ROOT))
		return -ENOENT;
	found->major = st.stx_dev_major;
	found->minor = st.stx_dev_minor;
	mounttype_of(&st, found->type, sizeof(found->type));
	found->path = strdup(path);
	return found->path ? 0 : -ENOMEM;
}

int place_at(const char *path, struct place *p)
{
	int rc = look_up(path, 0, 0, p);

	return rc == -ENOSYS ? look_at(path, p) : rc;
}

int place_of(unsigned major, unsigned minor, const char *path, struct place *p)
{
	int rc = look_up(NULL, major, minor, p);

	if (rc != -ENOSYS)
		return rc;
	rc = look_at(path, p);
	return rc ? rc : p->major == major && p->minor == minor ? 0 : -ENOENT;
}

void place_free(struct place *p)
{
	free(p->path);
	p->path = NULL;
}

bool place_is_dead(const char *path)
{
	struct statvfs fs;

	/* The kernel may answer stat from its memory. */
	return statvfs(path, &fs) &&
	       (errno == ENOTCONN || errno == ECONNABORTED);
}

/* libfuse, which mounts, needs no PATH to find it either. */
static int spawn_fusermount(pid_t *pid, const posix_spawnattr_t *attr,
			    char *const argv[])
{
	static const char *const elsewhere[] = {
		"/usr/bin/fusermount3",
		"/usr/local/bin/fusermount3",
		"/bin/fusermount3",
	};
	int rc = posix_spawnp(pid, argv[0], NULL, attr, argv, environ);

	for (size_t i = 0; rc && i < 3; i++)
		rc = posix_spawn(pid, elsewhere[i], NULL, attr, argv, environ);
	return -rc;
}

static int run_fusermount(const char *mountpoint)
{
	char program[] = "fusermount3", options[] = "-uqz", end[] = "--";
	char *dir = strdup(mountpoint);
	char *argv[] = { program, options, end, dir, NULL };
	posix_spawnattr_t attr;
	int rc = -ENOMEM;
	sigset_t none;
	pid_t pid;

	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &none);
	if (dir)
		rc = spawn_fusermount(&pid, &attr, argv);
	if (!rc)
		waitpid(pid, NULL, 0);
	posix_spawnattr_destroy(&attr);
	free(dir);
	return rc;
}

int place_unmount(const char *path)
{
	if (!umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW))
		return 0;
	return errno == EPERM ? run_fusermount(path) : -errno;
}

int place_watch(void)
{
	return open(TABLE, O_RDONLY | O_CLOEXEC);
}

void place_changed(int watch)
{
	struct pollfd table = { .fd = watch, .events = POLLPRI };

	poll(&table, 1, 1000);
}
