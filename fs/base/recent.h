/* SPDX-License-Identifier: BSD-2-Clause
 * A list in the order of use: whoever is used becomes the newest. The caller
 * has the lock. */
#ifndef RECENT_H
#define RECENT_H

#include <stddef.h>

/* Part of what is listed; see RECENT_OF. */
struct recent_link {
	struct recent_link *newer, *older;
};

/* All zero: empty. */
struct recent {
	struct recent_link *newest, *oldest;
};

/* What the link `l`, or NULL, is the member `member` of. */
#define RECENT_OF(l, type, member)                                             \
	((l) ? (type *)(void *)((char *)(l) - offsetof(type, member)) : NULL)

static inline void recent_remove(struct recent *r, struct recent_link *l)
{
	*(l->newer ? &l->newer->older : &r->newest) = l->older;
	*(l->older ? &l->older->newer : &r->oldest) = l->newer;
}

static inline void recent_add(struct recent *r, struct recent_link *l)
{
	l->newer = NULL;
	l->older = r->newest;
	*(r->newest ? &r->newest->newer : &r->oldest) = l;
	r->newest = l;
}

#endif
