/* SPDX-License-Identifier: BSD-2-Clause
 * Rank and world as the launcher of this process set them. */
#include <errno.h>
#include <stdlib.h>

#include "base/fail.h"

struct launcher {
	const char *name;
	const char *rank;
	const char *world[3]; /* the first that is set */
};

/* torchrun first: it may itself run under one of the others, one per host.
 * In a batch script outside srun Slurm sets no step, and one process. */
static const struct launcher launchers[] = {
	{ "torchrun", "RANK", { "WORLD_SIZE" } },
	{ "Open MPI", "OMPI_COMM_WORLD_RANK", { "OMPI_COMM_WORLD_SIZE" } },
	{ "Slurm",
	  "SLURM_PROCID",
	  { "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS" } },
};

static bool parse(const char *text, uint32_t *out)
{
	uint64_t v = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		v = v * 10 + (uint64_t)(*text - '0');
		if (v > UINT32_MAX)
			return false;
	}
	*out = (uint32_t)v;
	return true;
}

int zl_rank_from_env(uint32_t *rank, uint32_t *world, struct zl_error *err)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		const struct launcher *l = &launchers[i];
		const char *r = getenv(l->rank), *w = NULL;
		uint32_t rv, wv;

		for (size_t j = 0; j < 3 && l->world[j] && !w; j++)
			w = getenv(l->world[j]);
		if (!r && !w)
			continue;
		/* Slurm sets task counts for a whole job, ranks in a step. */
		if (!r && l->world[1])
			continue;
		if (!r || !w)
			return zl_fail(err, -EINVAL,
				       "%s: %s is set and %s is not", l->name,
				       r ? l->rank : l->world[0],
				       r ? l->world[0] : l->rank);
		if (!parse(r, &rv) || !parse(w, &wv) || rv >= wv)
			return zl_fail(err, -EINVAL,
				       "%s: rank \"%s\" of \"%s\" ranks",
				       l->name, r, w);
		*rank = rv;
		*world = wv;
		return 0;
	}
	*rank = 0;
	*world = 1;
	return 0;
}
