/* SPDX-License-Identifier: BSD-2-Clause
 * Rank and world as the launcher of this process set them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

struct launcher {
	const char *name;
	const char *rank;
	const char *world; /* NULL: it does not tell */
};

/* RANK first: torchrun may itself run under one of the others, one per host,
 * and people set it. Slurm last: mpirun starts its daemons in a step. */
static const struct launcher launchers[] = {
	{ "torchrun", "RANK", "WORLD_SIZE" },
	{ "Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
	{ "MVAPICH2", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE" },
	{ "MVAPICH", "MVP_COMM_WORLD_RANK", "MVP_COMM_WORLD_SIZE" },
	{ "jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE" },
	{ "Horovod", "HOROVOD_RANK", "HOROVOD_SIZE" },
	{ "PMI", "PMI_RANK", "PMI_SIZE" },
	{ "PALS", "PALS_RANKID", NULL },
	{ "PMIx", "PMIX_RANK", NULL },
	{ "Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS" },
};
static const struct launcher *const torchrun = &launchers[0];
static const struct launcher *const slurm =
	&launchers[sizeof(launchers) / sizeof(launchers[0]) - 1];

/* What a launcher says. */
struct pair {
	const struct launcher *by; /* NULL: nobody */
	uint32_t rank, world;
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

/* For a launcher that says both. */
static int read_pair(const struct launcher *l, struct pair *p,
		     struct zl_error *err)
{
	const char *r = getenv(l->rank), *w = getenv(l->world);
	const char *het = l == slurm ? getenv("SLURM_HET_SIZE") : NULL;

	/* Ranks count through all components, tasks in one of them. */
	if (het && strcmp(het, "1") != 0)
		return zl_fail(err, -EINVAL,
			       "Slurm: one part expected, SLURM_HET_SIZE=\"%s\" "
			       "found: the tasks of a heterogeneous job do not "
			       "say how many ranks there are: set RANK and "
			       "WORLD_SIZE",
			       het);
	if (!parse(r, &p->rank) || !parse(w, &p->world) || p->rank >= p->world)
		return zl_fail(err, -EINVAL,
			       "%s: a number below another expected, %s=\"%s\" "
			       "and %s=\"%s\" found",
			       l->name, l->rank, r, l->world, w);
	p->by = l;
	return 0;
}

/* One of one and one of several too: which of them started the other is not
 * to be seen. */
static int check_agreed(const struct pair *a, const struct pair *b,
			struct zl_error *err)
{
	if (a->rank == b->rank && a->world == b->world)
		return 0;
	return zl_fail(err, -EINVAL,
		       "%s says %s=%u and %s=%u, %s says %s=%u and %s=%u: set "
		       "RANK and WORLD_SIZE",
		       a->by->name, a->by->rank, a->rank, a->by->world,
		       a->world, b->by->name, b->by->rank, b->rank,
		       b->by->world, b->world);
}

/* Nobody says both, and `l` says one. */
static int fail_half(const struct launcher *l, struct zl_error *err)
{
	bool rank = getenv(l->rank) != NULL;

	if (!l->world)
		return zl_fail(err, -EINVAL,
			       "%s: %s does not say how many ranks there are: "
			       "set RANK and WORLD_SIZE",
			       l->name, l->rank);
	return zl_fail(err, -EINVAL,
		       "%s: %s is set and %s is not: set both, or neither",
		       l->name, rank ? l->rank : l->world,
		       rank ? l->world : l->rank);
}

/* In a batch script Slurm numbers the one process 0, and there is no step. */
static bool outside_step(const struct launcher *l)
{
	const char *r = getenv(l->rank);

	return l == slurm && r && !strcmp(r, "0");
}

static bool says_half(const struct launcher *l)
{
	bool rank = getenv(l->rank), world = l->world && getenv(l->world);

	return rank != world && !outside_step(l);
}

/* Slurm yields to a launcher that runs in its step, unless each task would then
 * do all of the work. So does what tells Slurm's rank under another name. */
static bool yields(const struct launcher *l, const struct pair *found)
{
	const char *r = getenv(l->rank), *task = getenv(slurm->rank);

	if (found->world < 2 || found->by == slurm)
		return false;
	return l == slurm || (!l->world && r && task && !strcmp(r, task));
}

static int find_pair(struct pair *found, struct zl_error *err)
{
	for (const struct launcher *l = launchers; l <= slurm; l++) {
		struct pair p = { 0 };
		int rc;

		if (!l->world || !getenv(l->rank) || !getenv(l->world) ||
		    yields(l, found))
			continue;
		rc = read_pair(l, &p, err);
		if (!rc && found->by)
			rc = check_agreed(found, &p, err);
		if (rc)
			return rc;
		*found = p;
		if (l == torchrun)
			return 0;
	}
	return 0;
}

static int check_half(const struct launcher *l, const struct pair *found,
		      struct zl_error *err)
{
	const char *r = getenv(l->rank);
	const char *name = r ? l->rank : l->world, *text = getenv(name);
	uint32_t v;

	if (parse(text, &v) && v == (r ? found->rank : found->world))
		return 0;
	return zl_fail(err, -EINVAL,
		       "%s says %s=%u and %s=%u, and %s is \"%s\": set RANK and "
		       "WORLD_SIZE, or unset %s",
		       found->by->name, found->by->rank, found->rank,
		       found->by->world, found->world, name, text, name);
}

static int find(struct pair *found, struct zl_error *err)
{
	int rc = find_pair(found, err);

	/* It holds against all others. */
	if (found->by == torchrun)
		return rc;
	for (const struct launcher *l = launchers; l <= slurm && !rc; l++)
		if (says_half(l) && !found->by)
			rc = fail_half(l, err);
		else if (says_half(l) && !yields(l, found))
			rc = check_half(l, found, err);
	return rc;
}

int zl_rank_from_env(uint32_t *rank, uint32_t *world, struct zl_error *err)
{
	struct pair found = { NULL, 0, 1 };
	int rc = find(&found, err);

	if (rc)
		return rc;
	*rank = found.rank;
	*world = found.world;
	return 0;
}
