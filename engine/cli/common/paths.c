/* SPDX-License-Identifier: BSD-2-Clause
 * A list of paths that grows. */
#include "paths.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Takes over `path`, which may be NULL for no memory. */
static int add(struct paths *p, char *path)
{
	if (path && p->count == p->room) {
		size_t room = p->room ? 2 * p->room : 64;
		char **grown = realloc(p->path, room * sizeof(char *));

		if (grown) {
			p->path = grown;
			p->room = room;
		}
	}
	if (!path || p->count == p->room) {
		free(path);
		return cli_fail("no memory");
	}
	p->path[p->count++] = path;
	return CLI_OK;
}

int paths_add(struct paths *p, const char *path)
{
	return add(p, strdup(path));
}

bool paths_has_extension(const char *name, const char *extension)
{
	size_t n = strlen(name), m = strlen(extension);

	return n >= m && !strcasecmp(name + n - m, extension);
}

static int leave_out(struct paths *p, const char *name)
{
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return CLI_OK;
	p->others++;
	if (!p->other || strcmp(name, p->other) < 0) {
		free(p->other);
		p->other = strdup(name);
		if (!p->other)
			return cli_fail("no memory");
	}
	return CLI_OK;
}

static int take_npy(struct paths *p, const char *folder, const char *name)
{
	const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
	char *path;

	if (name[0] == '.' || !paths_has_extension(name, ".npy"))
		return leave_out(p, name);
	if (asprintf(&path, "%s%s%s", folder, slash, name) < 0)
		path = NULL;
	return add(p, path);
}

bool paths_missing(const char *path)
{
	struct stat st;

	return lstat(path, &st) && (errno == ENOENT || errno == ENOTDIR);
}

bool paths_may_be_container(const char *path)
{
	static const char *const files[] = { "meta.zr", "data.zr" };
	bool may = false;
	struct stat st;

	/* A link that leads nowhere, or where nobody may look. */
	if (stat(path, &st))
		return !paths_missing(path);
	for (size_t i = 0; i < 2 && !may; i++) {
		char *file;

		if (asprintf(&file, "%s/%s", path, files[i]) < 0)
			return true;
		may = !paths_missing(file);
		free(file);
	}
	return may;
}

static int take_container(struct paths *p, const char *folder, const char *name)
{
	const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
	char *path;

	/* Hidden ones are being built; nobody may look into the folder that
	 * file systems of disks have. */
	if (name[0] == '.' || !strcmp(name, "lost+found"))
		return CLI_OK;
	if (asprintf(&path, "%s%s%s", folder, slash, name) < 0)
		return add(p, NULL);
	if (paths_may_be_container(path))
		return add(p, path);
	free(path);
	return CLI_OK;
}

static int read_folder(struct paths *p, const char *folder,
		       int (*take)(struct paths *p, const char *folder,
				   const char *name))
{
	DIR *d = opendir(folder);
	int status = CLI_OK;
	struct dirent *e;

	if (!d)
		return cli_fail("%s: %s", folder, strerror(errno));
	while (!status) {
		errno = 0;
		e = readdir(d);
		if (!e)
			break;
		status = take(p, folder, e->d_name);
	}
	if (!status && errno)
		status = cli_fail("%s: listing it: %s", folder,
				  strerror(errno));
	closedir(d);
	return status;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int paths_add_folder(struct paths *p, const char *folder)
{
	int status = read_folder(p, folder, take_npy);

	if (!status && !p->count)
		status = cli_fail("%s: no container, and has no .npy files%s%s",
				  folder, p->other ? " but others, such as " : "",
				  p->other ? p->other : "");
	if (!status)
		qsort(p->path, p->count, sizeof(char *), by_bytes);
	return status;
}

int paths_add_containers(struct paths *p, const char *folder)
{
	int status;

	if (paths_may_be_container(folder))
		return CLI_OK;
	status = read_folder(p, folder, take_container);
	if (p->count)
		qsort(p->path, p->count, sizeof(char *), by_bytes);
	return status;
}

void paths_free(struct paths *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->path[i]);
	free(p->path);
	free(p->other);
	*p = (struct paths){ NULL };
}
