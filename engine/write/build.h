/* SPDX-License-Identifier: BSD-2-Clause
 * The hidden directory in which a container is made, and its rename. */
#ifndef ZR_BUILD_H
#define ZR_BUILD_H

#include <stdbool.h>

#include "zrecord.h"

/* The names and descriptors of a build: a hidden directory beside the path. */
struct zr_build {
	char *path;  /* as given, for messages */
	char *name;  /* last component of path */
	char *temp;  /* name of the hidden directory, NULL: none made */
	char *temp_path; /* the same, reached as `path` is */
	size_t stem;     /* bytes of path before name */
	int parent;  /* directory of both */
	int dir;     /* the hidden directory */
	int meta_fd; /* holds the exclusive lock */
	int data_fd;
};

/* Make the hidden directory with its files beside `path`. */
int zr_build_start(struct zr_build *b, const char *path, struct zr_error *err);
/* Put it on stable storage and at its path. */
int zr_build_commit(struct zr_build *b, struct zr_error *err);
/* Close all; `remove`: unless committed, remove what was made. */
void zr_build_end(struct zr_build *b, bool remove);

#endif
