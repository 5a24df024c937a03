/* SPDX-License-Identifier: BSD-2-Clause
 * Where what is mounted, as the kernel tells it. */
#include "mounts.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* The last mount at a path is on top. */
static bool look_up(const char *path, unsigned major, unsigned minor,
		    struct place *found)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	struct place one;
	char *line = NULL;
	size_t room = 0;

	*found = (struct place){ .path = NULL };
	if (!f)
		return false;
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
	return found->path;
}

bool place_at(const char *path, struct place *p)
{
	return look_up(path, 0, 0, p);
}

bool place_of(unsigned major, unsigned minor, struct place *p)
{
	return look_up(NULL, major, minor, p);
}

void place_free(struct place *p)
{
	free(p->path);
	p->path = NULL;
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

void place_unmount(const char *path)
{
	if (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) && errno == EPERM)
		run_fusermount(path);
}
