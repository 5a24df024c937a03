/* SPDX-License-Identifier: BSD-2-Clause
 * A list of paths that grows. */
#ifndef PATHS_H
#define PATHS_H

#include "cli.h"

struct paths {
	char **path;
	size_t count, room;
	/* Of folders: what was left out, and its first name. */
	uint64_t others;
	char *other;
};

int paths_add(struct paths *p, const char *path);
/* Add the .npy files of a folder, in byte order of their names. */
int paths_add_folder(struct paths *p, const char *folder);
/* Add what may be a container in a folder, in byte order of the names; there may
 * be none, also if it is a container itself. What was found before a failure
 * is in. */
int paths_add_containers(struct paths *p, const char *folder);
void paths_free(struct paths *p);

/* A folder with a meta.zr or a data.zr, of whatever type, is a container, sound
 * or not. What cannot be told may be one: opening it tells why. */
bool paths_may_be_container(const char *path);
/* There is certainly nothing of this name, not even a link to nothing. */
bool paths_missing(const char *path);

/* Does the name end with this extension, in any case? */
bool paths_has_extension(const char *name, const char *extension);

#endif
