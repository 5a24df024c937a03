/* SPDX-License-Identifier: BSD-2-Clause
 * Writing a stored zip file, as numpy.savez does. */
#ifndef ZIPFILE_H
#define ZIPFILE_H

#include <stdio.h>

#include "cli.h"

struct zipfile {
	FILE *f;
	uint64_t at; /* bytes written */
	uint64_t members;
	unsigned char *central; /* the directory so far */
	size_t central_len, central_room;
};

/* Add a member that is head[0, head_len) and then body[0, body_len), together
 * less than 4 GiB. Returns false if writing or memory failed. */
bool zipfile_add(struct zipfile *z, const char *name, const void *head,
		 size_t head_len, const void *body, size_t body_len);
/* Write the directory. */
bool zipfile_end(struct zipfile *z);
void zipfile_free(struct zipfile *z);

#endif
