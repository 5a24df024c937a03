/* SPDX-License-Identifier: BSD-2-Clause
 * A file or directory that appears at its path whole or not at all. */
#include "output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static volatile sig_atomic_t stopped;

static void on_signal(int sig)
{
	stopped = sig;
}

void output_catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction act = { .sa_handler = on_signal }, old;

	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* nohup and & ask for signals to be ignored. */
		if (!sigaction(signals[i], NULL, &old) &&
		    old.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &act, NULL);
	}
}

int output_stopped(void)
{
	return stopped;
}

/* "dir/name" -> "dir/.name.XXXXXX" for mkostemp; the name is cut so
 * that it stays within the limit of file names. */
static char *temp_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char *temp;

	if (asprintf(&temp, "%.*s.%.200s.XXXXXX", (int)(name - path), path,
		     name) < 0)
		return NULL;
	return temp;
}

int output_start(struct output *o, const char *path, bool dir)
{
	size_t len = strlen(path);
	struct stat st;

	memset(o, 0, sizeof(*o));
	o->fd = -1;
	o->dir = dir;
	while (len > 1 && path[len - 1] == '/')
		len--;
	o->path = strndup(path, len);
	o->temp = o->path ? temp_path(o->path) : NULL;
	if (!o->temp) {
		free(o->path);
		return cli_fail("no memory");
	}
	if (!lstat(o->path, &st)) {
		cli_fail("%s: exists already", path);
		goto fail;
	}
	if (dir) {
		if (mkdtemp(o->temp))
			o->fd = open(o->temp,
				     O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	} else {
		o->fd = mkostemp(o->temp, O_CLOEXEC);
	}
	if (o->fd >= 0)
		return CLI_OK;
	cli_fail("%s: making a new file beside it: %s", path, strerror(errno));
fail:
	free(o->temp);
	free(o->path);
	o->temp = NULL;
	return CLI_FAILED;
}

/* Rename, replacing nothing. Where RENAME_NOREPLACE is missing, a link or an
 * empty directory takes the name first, which fails if it is taken. */
static int rename_new(struct output *o)
{
	if (!renameat2(AT_FDCWD, o->temp, AT_FDCWD, o->path, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (!o->dir)
		return link(o->temp, o->path) || unlink(o->temp);
	if (mkdir(o->path, 0777))
		return -1;
	if (!rename(o->temp, o->path))
		return 0;
	rmdir(o->path);
	return -1;
}

int output_commit(struct output *o)
{
	mode_t mask = umask(0);
	int rc;

	umask(mask);
	rc = o->dir ? fchmod(o->fd, 0777 & ~mask) : fchmod(o->fd, 0666 & ~mask);
	/* One sync for all files of a directory. */
	if (!rc)
		rc = o->dir ? syncfs(o->fd) : fsync(o->fd);
	if (!rc)
		rc = rename_new(o);
	if (rc) {
		cli_fail("%s: %s", o->path, strerror(errno));
		output_discard(o);
		return CLI_FAILED;
	}
	close(o->fd);
	free(o->temp);
	free(o->path);
	return CLI_OK;
}

static void remove_files(int fd)
{
	DIR *d = fdopendir(dup(fd));
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(fd, e->d_name, 0);
	if (d)
		closedir(d);
}

void output_discard(struct output *o)
{
	if (o->dir) {
		remove_files(o->fd);
		rmdir(o->temp);
	} else {
		unlink(o->temp);
	}
	close(o->fd);
	free(o->temp);
	free(o->path);
}
