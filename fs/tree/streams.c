/* SPDX-License-Identifier: BSD-2-Clause
 * What is mounted: one container, or the containers in a folder. */
#include "streams.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/jsonname.h"
#include "base/name.h"
#include "base/say.h"

struct names {
	char **name;
	size_t count, room;
};

static int no_memory(void)
{
	say("%s", zr_strerror(-ENOMEM));
	return -ENOMEM;
}

/* Whether there is such a name at all; a link may lead to nothing. */
static int exists(const char *path, bool *found)
{
	struct stat st;

	*found = !lstat(path, &st);
	return *found || errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
}

/* A folder with either file is a container, sound or not. */
static int is_container(const char *path, bool *found)
{
	static const char *const files[] = { "meta.zr", "data.zr" };
	int rc = 0;

	*found = false;
	for (size_t i = 0; i < 2 && !rc && !*found; i++) {
		char *file;

		if (asprintf(&file, "%s/%s", path, files[i]) < 0)
			return -ENOMEM;
		rc = exists(file, found);
		free(file);
	}
	return rc;
}

/* A link that leads nowhere is no answer: a container may be behind it. */
static int is_folder(const char *path, bool *found)
{
	struct stat st;
	int rc = 0;

	*found = false;
	if (!stat(path, &st)) {
		*found = S_ISDIR(st.st_mode);
	} else {
		rc = -errno;
		/* Removed since it was listed. */
		if (rc == -ENOENT && lstat(path, &st) && errno == ENOENT)
			rc = 0;
	}
	return rc;
}

static int add_name(struct names *n, const char *name)
{
	if (n->count == n->room) {
		size_t room = 2 * n->room + 16;
		char **p = realloc(n->name, room * sizeof(*p));

		if (!p)
			return -ENOMEM;
		n->name = p;
		n->room = room;
	}
	n->name[n->count] = strdup(name);
	return n->name[n->count] ? (int)(n->count++, 0) : -ENOMEM;
}

static int add_container(struct names *n, const char *folder, const char *name)
{
	bool found = false;
	char *path;
	int rc;

	/* Hidden ones are being built; nobody may look into the folder that
	 * file systems of disks have. */
	if (name[0] == '.' || !strcmp(name, "lost+found"))
		return 0;
	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return no_memory();
	rc = is_folder(path, &found);
	if (!rc && found)
		rc = is_container(path, &found);
	if (rc)
		say("%s: cannot tell whether it is a container: %s", path,
		    strerror(-rc));
	else if (found && add_name(n, name))
		rc = no_memory();
	free(path);
	return rc;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int find_containers(struct names *n, const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	int rc = 0;

	if (!d) {
		rc = -errno;
		say("%s: %s", folder, strerror(errno));
		return rc;
	}
	while (!rc) {
		errno = 0;
		e = readdir(d);
		if (!e)
			break;
		rc = add_container(n, folder, e->d_name);
	}
	if (!rc && errno) {
		rc = -errno;
		say("%s: its list of names broke off: %s", folder,
		    strerror(errno));
	}
	closedir(d);
	if (n->count)
		qsort(n->name, n->count, sizeof(n->name[0]), compare);
	return rc;
}

static void free_names(struct names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->name[i]);
	free(n->name);
}

/* A container has two or three files open. */
static void allow_files(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int check_names(const struct mount *m, const struct names *n,
		       const char *folder)
{
	if (!n->count) {
		say("%s is neither a container nor a folder of containers: no "
		    "meta.zr in it or in a folder of it",
		    folder);
		return -ENOENT;
	}
	if (n->count > TREE_STREAM_MAX) {
		say("%s: %zu containers: at most %u can be mounted together",
		    folder, n->count, TREE_STREAM_MAX);
		return -EFBIG;
	}
	for (size_t i = 0; i < n->count; i++) {
		if (m->opt->layout == LAYOUT_FULL &&
		    (!strcmp(n->name[i], "info.json") ||
		     !strcmp(n->name[i], "stats.json"))) {
			say("%s/%s: a container of this name hides a file of "
			    "the mount: rename it",
			    folder, n->name[i]);
			return -EEXIST;
		}
	}
	return 0;
}

static bool is_newer(const struct zr_info *a, const struct zr_info *b)
{
	return a->mtime_sec != b->mtime_sec ? a->mtime_sec > b->mtime_sec
					    : a->mtime_nsec > b->mtime_nsec;
}

/* info.json of the folder has the objects of all, by their names. */
static int describe_folder(struct mount *m)
{
	struct stream *f = &m->folder;
	FILE *out = open_memstream(&f->json, &f->json_len);

	if (!out)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->stream_count; i++) {
		const struct stream *s = &m->streams[i];

		if (is_newer(s->info, &m->folder_info)) {
			m->folder_info.mtime_sec = s->info->mtime_sec;
			m->folder_info.mtime_nsec = s->info->mtime_nsec;
		}
		fputs(i ? ",\n" : "{", out);
		json_name(out, s->name);
		/* Each ends with a newline. */
		fprintf(out, ": %.*s", (int)s->json_len - 1, s->json);
	}
	fputs("}\n", out);
	return fclose(out) ? -ENOMEM : 0;
}

static int open_named(struct mount *m, const char *folder, char *name)
{
	struct stream *s = &m->streams[m->stream_count];
	char *path;
	int rc;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return no_memory();
	rc = stream_open(s, path, !m->opt->no_checksums);
	free(path);
	if (rc)
		return rc;
	s->number = ++m->stream_count;
	s->name = strdup(name);
	/* Numbered files of several streams cannot be in one folder, and
	 * programs that want no others take each folder for a class. */
	s->layout = m->opt->layout == LAYOUT_FULL ? LAYOUT_FULL : LAYOUT_FLAT;
	return s->name ? 0 : no_memory();
}

static int open_folder(struct mount *m, const char *folder)
{
	struct names n = { NULL, 0, 0 };
	int rc = find_containers(&n, folder);

	if (!rc)
		rc = check_names(m, &n, folder);
	if (!rc) {
		allow_files();
		m->streams = calloc(n.count, sizeof(m->streams[0]));
		if (!m->streams)
			rc = no_memory();
	}
	for (size_t i = 0; i < n.count && !rc; i++)
		rc = open_named(m, folder, n.name[i]);
	free_names(&n);
	if (rc)
		return rc;
	m->several = true;
	m->folder.info = &m->folder_info;
	m->folder.layout = m->opt->layout;
	return describe_folder(m) ? no_memory() : 0;
}

static int open_one(struct mount *m, const char *path)
{
	int rc;

	m->streams = calloc(1, sizeof(m->streams[0]));
	if (!m->streams)
		return no_memory();
	rc = stream_open(&m->streams[0], path, !m->opt->no_checksums);
	if (rc)
		return rc;
	m->streams[0].layout = m->opt->layout;
	m->stream_count = 1;
	return 0;
}

int streams_open(struct mount *m, const char *path)
{
	bool folder, container = false;

	/* What cannot be looked into is told by opening it. */
	if (is_folder(path, &folder) || !folder ||
	    is_container(path, &container) || container)
		return open_one(m, path);
	return open_folder(m, path);
}

void streams_close(struct mount *m)
{
	for (uint32_t i = 0; i < m->stream_count; i++)
		stream_close(&m->streams[i]);
	free(m->folder.json);
	free(m->streams);
	m->streams = NULL;
	m->stream_count = 0;
}

static int compare_name(const void *name, const void *stream)
{
	return strcmp(name, ((const struct stream *)stream)->name);
}

const struct stream *stream_named(const struct mount *m, const char *name)
{
	return bsearch(name, m->streams, m->stream_count, sizeof(m->streams[0]),
		       compare_name);
}

struct stream *mount_stream(struct mount *m, const struct node *n)
{
	if (m->several && n->stream == 0)
		return &m->folder;
	if (n->stream < m->several || n->stream - m->several >= m->stream_count)
		return NULL;
	return &m->streams[n->stream - m->several];
}
