/* SPDX-License-Identifier: BSD-2-Clause
 * Rank and world as launchers set them: never too few ranks in silence. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "zloader.h"

/* An environment, and what it says: a rank of a world, or with world 0 an
 * error whose message has this in it. */
struct line {
	const char *env; /* NAME=VALUE, separated by spaces */
	uint32_t rank, world;
	const char *said;
};

#define BATCH "SLURM_JOB_ID=7 SLURM_LOCALID=0 SLURM_PROCID=0 "
#define ALLOC "SLURM_JOB_ID=7 SLURM_NTASKS=8 SLURM_NPROCS=8 "
#define STEP ALLOC "SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=8 "
#define NODES ALLOC "SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 "

static const struct line lines[] = {
	{ "", 0, 1, NULL },
	{ "HOME=/ LOCAL_RANK=3", 0, 1, NULL },
	/* One launcher */
	{ "RANK=3 WORLD_SIZE=4 LOCAL_RANK=1 GROUP_RANK=1", 3, 4, NULL },
	{ "RANK=0 WORLD_SIZE=1", 0, 1, NULL },
	{ "RANK=4294967294 WORLD_SIZE=4294967295", 4294967294u, 4294967295u,
	  NULL },
	{ "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=1", 1, 2,
	  NULL },
	{ "MV2_COMM_WORLD_RANK=5 MV2_COMM_WORLD_SIZE=6", 5, 6, NULL },
	{ "MVP_COMM_WORLD_RANK=5 MVP_COMM_WORLD_SIZE=6", 5, 6, NULL },
	{ "JSM_NAMESPACE_RANK=2 JSM_NAMESPACE_SIZE=6 PMIX_RANK=2", 2, 6, NULL },
	{ "HOROVOD_RANK=2 HOROVOD_SIZE=6", 2, 6, NULL },
	{ "PMI_RANK=3 PMI_SIZE=8", 3, 8, NULL },
	{ "PMI_RANK=3 PMI_SIZE=8 PALS_RANKID=3 PALS_LOCAL_SIZE=4", 3, 8, NULL },
	{ "PALS_RANKID=3", 0, 0, "PALS_RANKID" },
	{ "PMIX_RANK=3", 0, 0, "PMIX_RANK" },
	{ "PMIX_RANK=0", 0, 0, "PMIX_RANK" },
	{ "PMI_RANK=0", 0, 0, "PMI_SIZE is not" },
	{ "PMI_SIZE=8", 0, 0, "PMI_RANK is not" },
	{ "OMPI_COMM_WORLD_RANK=1", 0, 0, "OMPI_COMM_WORLD_SIZE is not" },
	/* Slurm: only a step has ranks. */
	{ BATCH "SLURM_NTASKS=8 SLURM_NPROCS=8", 0, 1, NULL },
	{ BATCH "SLURM_NTASKS=1 SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=9",
	  0, 1, NULL },
	{ ALLOC, 0, 1, NULL },
	{ ALLOC "SLURM_STEP_ID=4294967290 SLURM_PROCID=0 "
		"SLURM_STEP_NUM_TASKS=1",
	  0, 1, NULL },
	{ STEP "SLURM_PROCID=3", 3, 8, NULL },
	{ "SLURM_PROCID=1 SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=2", 1, 2, NULL },
	{ STEP "SLURM_PROCID=8", 0, 0, "SLURM_PROCID=\"8\"" },
	{ "SLURM_PROCID=5 SLURM_NTASKS=8", 0, 0,
	  "SLURM_STEP_NUM_TASKS is not" },
	{ STEP, 0, 0, "SLURM_PROCID is not" },
	{ STEP "SLURM_PROCID=3 SLURM_HET_SIZE=2", 0, 0, "SLURM_HET_SIZE=\"2\"" },
	{ STEP "SLURM_PROCID=3 SLURM_HET_SIZE=1", 3, 8, NULL },
	{ BATCH "SLURM_NTASKS=8 SLURM_HET_SIZE=2", 0, 1, NULL },
	/* One inside of another */
	{ NODES "SLURM_PROCID=1 RANK=13 WORLD_SIZE=16", 13, 16, NULL },
	{ STEP "SLURM_PROCID=3 RANK=0 WORLD_SIZE=1", 0, 1, NULL },
	{ "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 RANK=5 WORLD_SIZE=8",
	  5, 8, NULL },
	{ BATCH "SLURM_NTASKS=8 OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=8",
	  5, 8, NULL },
	{ NODES "SLURM_PROCID=1 PMI_RANK=7 PMI_SIZE=8 PMIX_RANK=1", 7, 8,
	  NULL },
	{ NODES "SLURM_PROCID=3 SLURM_HET_SIZE=2 PMI_RANK=7 PMI_SIZE=8", 7, 8,
	  NULL },
	{ STEP "SLURM_PROCID=3 PMIX_RANK=3", 3, 8, NULL },
	{ STEP "SLURM_PROCID=3 PMI_RANK=3 PMI_SIZE=8", 3, 8, NULL },
	/* Contradictions */
	{ "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8 PMI_RANK=1 PMI_SIZE=2",
	  0, 0, "Open MPI says OMPI_COMM_WORLD_RANK=3 and "
		"OMPI_COMM_WORLD_SIZE=8, PMI says PMI_RANK=1 and PMI_SIZE=2" },
	{ "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8 PMI_RANK=0 PMI_SIZE=1",
	  0, 0, "PMI says PMI_RANK=0 and PMI_SIZE=1" },
	{ "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=8 PMI_RANK=0 PMI_SIZE=4",
	  0, 0, "PMI says PMI_RANK=0 and PMI_SIZE=4" },
	{ "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 PMI_RANK=1 PMI_SIZE=2",
	  0, 0, "PMI says PMI_RANK=1 and PMI_SIZE=2" },
	{ STEP "SLURM_PROCID=3 PMI_RANK=0 PMI_SIZE=1", 0, 0,
	  "Slurm says SLURM_PROCID=3 and SLURM_STEP_NUM_TASKS=8" },
	/* Halves beside a pair */
	{ "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=3", 0, 0,
	  "PMIX_RANK is \"3\"" },
	{ "PMI_RANK=1 PMI_SIZE=8 PALS_RANKID=5", 0, 0,
	  "PMI says PMI_RANK=1 and PMI_SIZE=8, and PALS_RANKID is \"5\"" },
	{ "PMI_RANK=0 PMI_SIZE=1 OMPI_COMM_WORLD_SIZE=4", 0, 0,
	  "OMPI_COMM_WORLD_SIZE is \"4\"" },
	{ "PMI_RANK=0 PMI_SIZE=1 SLURM_PROCID=5", 0, 0,
	  "SLURM_PROCID is \"5\"" },
	{ "PMI_RANK=0 PMI_SIZE=1 SLURM_STEP_NUM_TASKS=8", 0, 0,
	  "SLURM_STEP_NUM_TASKS is \"8\"" },
	{ "PMI_RANK=0 PMI_SIZE=1 PMIX_RANK=x", 0, 0, "PMIX_RANK is \"x\"" },
	{ STEP "SLURM_PROCID=3 PMIX_RANK=4", 0, 0, "PMIX_RANK is \"4\"" },
	{ NODES "SLURM_PROCID=1 PMI_RANK=7 PMI_SIZE=8 PMIX_RANK=2", 0, 0,
	  "PMIX_RANK is \"2\"" },
	{ "PMI_RANK=0 PMI_SIZE=1 PMIX_RANK=0 OMPI_COMM_WORLD_SIZE=1", 0, 1,
	  NULL },
	{ "PMI_RANK=7 PMI_SIZE=8 SLURM_PROCID=1", 7, 8, NULL },
	{ "RANK=5 WORLD_SIZE=8 PMIX_RANK=1 PALS_RANKID=2", 5, 8, NULL },
	{ "RANK=3", 0, 0, "RANK is set and WORLD_SIZE is not" },
	{ "WORLD_SIZE=8", 0, 0, "WORLD_SIZE is set and RANK is not" },
	{ BATCH "WORLD_SIZE=8", 0, 0, "WORLD_SIZE is set and RANK is not" },
	{ STEP "SLURM_PROCID=3 WORLD_SIZE=8", 3, 8, NULL },
	{ STEP "SLURM_PROCID=3 RANK=3", 3, 8, NULL },
	{ STEP "SLURM_PROCID=3 WORLD_SIZE=16", 0, 0, "WORLD_SIZE is \"16\"" },
	{ STEP "SLURM_PROCID=3 RANK=4", 0, 0, "RANK is \"4\"" },
	{ STEP "SLURM_PROCID=3 RANK=captain", 0, 0, "RANK is \"captain\"" },
	{ "PMI_RANK=3 PMI_SIZE=8 RANK=0", 0, 0, "RANK is \"0\"" },
	/* Not two fitting numbers */
	{ "RANK=4 WORLD_SIZE=4", 0, 0, "RANK=\"4\" and WORLD_SIZE=\"4\"" },
	{ "RANK=0 WORLD_SIZE=0", 0, 0, "WORLD_SIZE=\"0\"" },
	{ "RANK= WORLD_SIZE=", 0, 0, "RANK=\"\"" },
	{ "RANK= WORLD_SIZE=4", 0, 0, "RANK=\"\"" },
	{ "RANK=3 WORLD_SIZE=4x", 0, 0, "WORLD_SIZE=\"4x\"" },
	{ "RANK=-1 WORLD_SIZE=4", 0, 0, "RANK=\"-1\"" },
	{ "RANK=+1 WORLD_SIZE=4", 0, 0, "RANK=\"+1\"" },
	{ "RANK=1 WORLD_SIZE=4294967296", 0, 0, "4294967296" },
	{ "RANK=1 WORLD_SIZE=99999999999999999999999", 0, 0, "99999" },
	{ "PMI_RANK=a PMI_SIZE=8", 0, 0, "PMI_RANK=\"a\"" },
	{ "RANK=x WORLD_SIZE=y PMI_RANK=3 PMI_SIZE=8", 0, 0, "RANK=\"x\"" },
};

static void set_env(const char *env)
{
	char text[512], *rest = text, *name;

	clearenv();
	cr_assert(strlen(env) < sizeof(text));
	strcpy(text, env);
	while ((name = strsep(&rest, " "))) {
		char *value = strchr(name, '=');

		if (!value)
			continue;
		*value++ = '\0';
		setenv(name, value, 1);
	}
}

Test(rank, is_what_the_launcher_says)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const struct line *l = &lines[i];
		struct zl_error e = { 0 };
		uint32_t rank = 77, world = 78;
		int rc;

		set_env(l->env);
		rc = zl_rank_from_env(&rank, &world, &e);
		if (l->world) {
			cr_expect(!rc && rank == l->rank && world == l->world,
				  "%s: %d, %u of %u", l->env, rc, rank, world);
			cr_expect(!e.message[0], "%s", e.message);
			continue;
		}
		cr_expect(rc == -EINVAL && rank == 77 && world == 78,
			  "%s: %d, %u of %u", l->env, rc, rank, world);
		cr_expect(strstr(e.message, l->said), "%s: %s", l->env,
			  e.message);
		cr_expect(zl_rank_from_env(&rank, &world, NULL) == -EINVAL);
	}
}
