/* SPDX-License-Identifier: BSD-2-Clause
 * Ids in ascending order, and the selection that names them. */
#include "idset.h"

#include <stdlib.h>
#include <string.h>

bool idset_add(struct idset *s, uint64_t first, uint64_t end)
{
	if (s->runs && s->run[s->runs - 1].end == first) {
		s->run[s->runs - 1].end = end;
		s->count += end - first;
		return true;
	}
	if (s->runs == s->room) {
		size_t room = s->room ? 2 * s->room : 64;
		struct idset_run *p = realloc(s->run, room * sizeof(*p));

		if (!p)
			return false;
		s->run = p;
		s->room = room;
	}
	s->run[s->runs++] = (struct idset_run){ first, end };
	s->count += end - first;
	return true;
}

void idset_free(struct idset *s)
{
	free(s->run);
	memset(s, 0, sizeof(*s));
}

void idset_print(const struct idset *s, FILE *f)
{
	for (size_t i = 0; i < s->runs; i++) {
		unsigned long long first = s->run[i].first;
		unsigned long long end = s->run[i].end;

		fprintf(f, "%s%llu", i ? "," : "", first);
		if (end - first > 1)
			fprintf(f, ":%llu", end);
	}
}
