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
/* Add the containers of a folder, in byte order of their names; there may be
 * none, also if it is a container itself. */
int paths_add_containers(struct paths *p, const char *folder);
void paths_free(struct paths *p);

/* Does the name end with this extension, in any case? */
bool paths_has_extension(const char *name, const char *extension);

#endif
