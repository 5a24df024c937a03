/* SPDX-License-Identifier: BSD-2-Clause
 * Four processes under mpirun share the epochs of one container, are ended in
 * the middle of one, and go on as two: every record once per epoch. Returns
 * 0, 1 after saying what failed, or 77 without mpirun. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/scratch.h"
#include "zloader.h"

enum { records = 203, batch = 16, epoch_steps = 13, epochs = 5, cut = 24 };

/* One rank: `steps` steps from the state in DIR/state, if there is one. Each
 * rank leaves its ids in a file; all save the same state. */
static int rank_main(const char *dir, uint64_t steps)
{
	struct zl_options o = ZL_OPTIONS_INIT;
	struct zl_stream s = { "r", NULL };
	struct zl_state state;
	struct zr_container *c;
	struct zl_loader *l;
	struct zl_error e;
	char path[700];
	FILE *f;

	snprintf(path, sizeof(path), "%s/c", dir);
	if (zr_open(&c, path, NULL, NULL) ||
	    zl_rank_from_env(&o.sampling.rank, &o.sampling.world, &e))
		return 1;
	s.container = c;
	o.sampling.batch = batch;
	if (zl_open(&l, &s, 1, &o, &e))
		return 1;
	snprintf(path, sizeof(path), "%s/state", dir);
	f = fopen(path, "rb");
	if (f && (fread(&state, sizeof(state), 1, f) != 1 ||
		  zl_restore(l, &state, &e)))
		return 1;
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "%s/ids.%u.%u", dir, o.sampling.world,
		 o.sampling.rank);
	f = fopen(path, "wb");
	for (uint64_t k = 0; f && k < steps; k++) {
		struct zl_batch *b;

		if (zl_next(l, &b, &e))
			return 1;
		for (size_t i = 0; i < b->count; i++)
			fprintf(f, "%" PRIu64 " %" PRIu64 "\n", b->step,
				b->ids[i]);
		zl_return(b);
	}
	if (!f || fclose(f))
		return 1;
	zl_save(l, &state);
	snprintf(path, sizeof(path), "%s/state.%u", dir, o.sampling.rank);
	f = fopen(path, "wb");
	if (!f || fwrite(&state, sizeof(state), 1, f) != 1 || fclose(f))
		return 1;
	zl_close(&l);
	zr_close(c);
	return 0;
}

static void make(const char *path)
{
	struct zr_dtype u4 = { "<u4", 'u', '<', 4 };
	struct zr_shape scalar = { 0 };
	struct zr_writer *w;

	if (zr_create(&w, path, ZR_DENSE, &u4, &scalar, NULL, NULL))
		exit(1);
	for (uint32_t i = 0; i < records; i++)
		if (zr_append_dense(w, &i, 1, NULL))
			exit(1);
	if (zr_publish(w, NULL))
		exit(1);
}

static int mpirun(const char *self, struct scratch *s, int world, int steps)
{
	char command[2048];

	snprintf(command, sizeof(command),
		 "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
		 "mpirun --oversubscribe -n %d '%s' '%s' %d",
		 world, self, s->dir, steps);
	return system(command);
}

/* Add the ids of all ranks of a run to times[epoch][record]. */
static int count_ids(struct scratch *s, unsigned world,
		     unsigned times[epochs][records], uint64_t from)
{
	for (unsigned r = 0; r < world; r++) {
		uint64_t step, id, first = UINT64_MAX;
		char name[64];
		FILE *f;

		snprintf(name, sizeof(name), "ids.%u.%u", world, r);
		f = fopen(scratch_path(s, name), "r");
		if (!f)
			return 1;
		while (fscanf(f, "%" SCNu64 " %" SCNu64, &step, &id) == 2) {
			if (first == UINT64_MAX)
				first = step;
			if (id >= records || step / epoch_steps >= epochs)
				return 1;
			times[step / epoch_steps][id]++;
		}
		fclose(f);
		if (first != from) {
			printf("rank %u of %u begins at step %" PRIu64 "\n", r,
			       world, first);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	static unsigned times[epochs][records];
	struct scratch s;
	int bad = 0;

	if (argc == 3)
		return rank_main(argv[1], strtoull(argv[2], NULL, 10));
	if (system("command -v mpirun >/dev/null 2>&1")) {
		puts("loader_ranks: no mpirun, skipped");
		return 77;
	}
	scratch_make(&s);
	make(scratch_path(&s, "c"));
	if (mpirun(argv[0], &s, 4, cut) ||
	    rename(scratch_path(&s, "state.2"), scratch_path(&s, "state")) ||
	    mpirun(argv[0], &s, 2, epochs * epoch_steps - cut)) {
		puts("a rank failed");
		return 1;
	}
	bad = count_ids(&s, 4, times, 0) | count_ids(&s, 2, times, cut);
	for (int e = 0; e < epochs; e++)
		for (int i = 0; i < records; i++)
			if (times[e][i] != 1 && !bad++)
				printf("epoch %d: record %d %u times\n", e, i,
				       times[e][i]);
	scratch_remove(&s);
	if (!bad)
		puts("loader_ranks: ok");
	return bad != 0;
}
