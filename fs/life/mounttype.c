/* SPDX-License-Identifier: BSD-2-Clause
 * The type of a mount, from statmount(2), which the C library's headers may not
 * have. */
#include "mounttype.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_statmount
#define SYS_statmount 457
#endif

/* stx_mnt_id. */
#define STATX_ID_OFFSET 144

enum {
	ASK_TYPE = 0x20,
	ASK_SUBTYPE = 0x100,
	ASK_BOTH = ASK_TYPE | ASK_SUBTYPE,
};

struct request {
	uint32_t size, unused;
	uint64_t id, ask;
};

/* Texts are offsets into `texts`. */
struct answer {
	uint32_t size, options;
	uint64_t told; /* of what was asked */
	uint32_t major, minor;
	uint64_t magic;
	uint32_t flags, type;
	uint64_t mount[8];
	uint32_t root, point;
	uint64_t space;
	uint32_t subtype, source;
	uint64_t later[48];
	char texts[256];
};

_Static_assert(offsetof(struct answer, texts) == 512, "as the kernel has it");

void mounttype_of(const struct statx *st, char *type, size_t room)
{
	struct request r = { .size = sizeof(r), .ask = ASK_BOTH };
	struct answer a = { .told = 0 };
	const size_t end = sizeof(a.texts);

	type[0] = '\0';
	memcpy(&r.id, (const char *)st + STATX_ID_OFFSET, sizeof(r.id));
	if (!(st->stx_mask & MOUNTTYPE_ID) ||
	    syscall(SYS_statmount, &r, &a, sizeof(a), 0) ||
	    (a.told & ASK_BOTH) != ASK_BOTH || a.type >= end ||
	    a.subtype >= end)
		return;
	a.texts[end - 1] = '\0';
	snprintf(type, room, "%s.%s", a.texts + a.type, a.texts + a.subtype);
}
