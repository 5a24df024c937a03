/* SPDX-License-Identifier: BSD-2-Clause
 * A process that builds a container is killed at random moments: at the path
 * there is a whole container or nothing, and what lies beside it is known for
 * what it is. Returns 0, or 1 after saying what failed.
 *
 *     engine_killed [KILLS [SEED]]    default 200, and a seed of the clock */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../unit/scratch.h"
#include "engine_data.h"

/* Three times what the writer keeps of the table, so that a dead build has
 * entries, too. */
enum { RECORDS = 12500, BATCH = 625 };

enum stage { WAITING, CREATING, APPENDING, PUBLISHING, DONE, STAGES };
static const char *const stage_names[STAGES] = { "before it", "creating",
						 "appending", "publishing",
						 "after it" };

/* In memory that the child's death leaves. */
static struct {
	atomic_int stage;
	int64_t whole_ns, publish_ns;
} * shared;

static struct scratch dir;
static char path[640]; /* of the container */
static unsigned fell[STAGES];
static uint64_t recovered;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static void sleep_ns(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&t, NULL);
}

/* ---- The build ----------------------------------------------------------- */

static void build_and_exit(const struct data_kind *k)
{
	int64_t start = now_ns(), publish;
	struct zr_executor *ex;
	struct zr_writer *w;

	atomic_store(&shared->stage, CREATING);
	if (zr_executor_new(&ex, 2) || data_create(&w, path, k, ex, NULL))
		_exit(1);
	atomic_store(&shared->stage, APPENDING);
	for (uint32_t i = 0; i < RECORDS; i += BATCH)
		if (data_append(w, k->kind, i, BATCH, false, NULL))
			_exit(1);
	publish = now_ns();
	atomic_store(&shared->stage, PUBLISHING);
	if (zr_publish(w, NULL))
		_exit(1);
	atomic_store(&shared->stage, DONE);
	shared->whole_ns = now_ns() - start;
	shared->publish_ns = now_ns() - publish;
	zr_executor_free(ex);
	_exit(0);
}

static pid_t start_build(const struct data_kind *k)
{
	pid_t pid;

	atomic_store(&shared->stage, WAITING);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		exit(1);
	if (!pid)
		build_and_exit(k);
	return pid;
}

static bool build(const struct data_kind *k)
{
	pid_t pid = start_build(k);
	int status = 0;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- What must be there -------------------------------------------------- */

static void check_whole(const struct data_kind *k, const char *at,
			const char *what)
{
	unsigned char buf[ITEM_BYTES + 64];
	struct zr_container *c;
	struct zr_reader *r;
	struct zr_error err;
	int rc = zr_open(&c, at, NULL, &err);

	CHECK(rc == 0, "%s: %s", what, err.message);
	if (rc)
		return;
	MUST(zr_reader_new(&r, c, NULL));
	CHECK(zr_info(c)->records == RECORDS && zr_info(c)->checksums,
	      "%s: %" PRIu64 " records", what, zr_info(c)->records);
	for (uint32_t i = 0; i < zr_info(c)->records; i++) {
		struct zr_shape shape;
		uint64_t bytes;

		rc = zr_check(r, i, &err);
		CHECK(rc == 0, "%s: %s", what, err.message);
		rc = zr_read(r, i, buf, sizeof(buf), &bytes, &shape, &err);
		CHECK(rc == 0, "%s: %s", what, err.message);
		CHECK(rc || data_right(k->kind, i, buf, bytes, &shape),
		      "%s: record %u is another", what, i);
	}
	zr_reader_free(r);
	zr_close(c);
}

static off_t size_of(const char *in, const char *name)
{
	char file[2 * sizeof(path)];
	struct stat st;

	snprintf(file, sizeof(file), "%s/%s", in, name);
	return stat(file, &st) ? -1 : st.st_size;
}

/* The writer adds an entry after the bytes it stands for, so what has an
 * entry is whole. */
static void check_recovers(const struct data_kind *k, const char *at)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	uint64_t entries = (uint64_t)(size_of(at, "meta.zr") - 4096) / 16;
	unsigned char buf[ITEM_BYTES + 64];
	struct zr_container *c;
	struct zr_reader *r;
	struct zr_error err;
	int rc;

	opt.flags = ZR_OPEN_RECOVER;
	rc = zr_open(&c, at, &opt, &err);
	CHECK(rc == 0, "%s", err.message);
	if (rc)
		return;
	MUST(zr_reader_new(&r, c, NULL));
	CHECK(zr_info(c)->records == entries && entries <= RECORDS,
	      "%" PRIu64 " records of %" PRIu64 " entries", zr_info(c)->records,
	      entries);
	for (uint32_t i = 0; i < zr_info(c)->records; i++) {
		struct zr_shape shape;
		uint64_t bytes;

		rc = zr_read(r, i, buf, sizeof(buf), &bytes, &shape, &err);
		CHECK(rc == 0, "lost: %s", err.message);
		CHECK(rc || data_right(k->kind, i, buf, bytes, &shape),
		      "recovered record %u is another", i);
		recovered += rc == 0;
	}
	zr_reader_free(r);
	zr_close(c);
}

/* The hidden directory of a dead build. */
static void check_dead(const struct data_kind *k, const char *at)
{
	enum stage stage = (enum stage)atomic_load(&shared->stage);
	struct zr_container *c = NULL;
	struct zr_error err;
	int rc = zr_open(&c, at, NULL, &err);

	if (size_of(at, "meta.zr") < 4096 || size_of(at, "data.zr") <= 0) {
		/* No record in it: at best an empty container (F8). */
		CHECK(rc || zr_info(c)->records == 0, "records of no bytes");
		zr_close(c);
		return;
	}
	CHECK(stage >= APPENDING, "bytes before the first append");
	if (rc == 0) {
		zr_close(c);
		CHECK(stage == PUBLISHING, "open before it is published");
		check_whole(k, at, "about to be renamed");
	} else {
		CHECK(rc == -ENODATA, "not known as a dead build: %d %s", rc,
		      err.message);
	}
	check_recovers(k, at);
}

/* Look at all that a killed build left, and remove it. Returns whether the
 * path was there. */
static bool check_left(const struct data_kind *k)
{
	int stage = atomic_load(&shared->stage), hidden = 0, open = 0;
	DIR *d = opendir(dir.dir);
	char at[2 * sizeof(path)];
	struct dirent *e;

	while (d && (e = readdir(d))) {
		unsigned tag;
		int end = 0;

		if (e->d_name[0] == '.' && strlen(e->d_name) < 3)
			continue;
		snprintf(at, sizeof(at), "%s/%s", dir.dir, e->d_name);
		if (!strcmp(e->d_name, "c")) {
			open++;
			check_whole(k, at, "at the path");
		} else if (sscanf(e->d_name, ".c.%6x.zrtmp%n", &tag, &end) ==
				   1 &&
			   end && !e->d_name[end]) {
			hidden++;
			check_dead(k, at);
		} else {
			CHECK(false, "left %s", e->d_name);
		}
	}
	if (d)
		closedir(d);
	CHECK(hidden + open <= 1, "%d hidden, %d at the path", hidden, open);
	CHECK(!open || stage >= PUBLISHING, "at the path while %s",
	      stage_names[stage]);
	CHECK(stage != DONE || open, "published, but not at the path");
	CHECK(stage != APPENDING || hidden, "where is it built?");
	return open;
}

static void clear(void)
{
	scratch_remove(&dir);
	if (mkdir(dir.dir, 0700))
		exit(1);
}

/* ---- Kills --------------------------------------------------------------- */

/* Leaves a dead child to be waited for: its id stays its own. */
static bool runs(pid_t pid)
{
	siginfo_t info = { 0 };

	return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       !info.si_pid;
}

/* Every third is aimed at zr_publish, which is short and where it matters. */
static void kill_one(const struct data_kind *k, unsigned round, uint64_t *seed,
		     int64_t whole, int64_t publish)
{
	bool aimed = round % 3 == 2, there;
	pid_t pid = start_build(k);

	if (aimed) {
		while (atomic_load(&shared->stage) < PUBLISHING && runs(pid))
			sleep_ns(20000);
		sleep_ns((int64_t)(draw(seed) % (uint64_t)(publish + 1)));
	} else {
		sleep_ns((int64_t)(draw(seed) % (uint64_t)(whole * 11 / 10)));
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	fell[atomic_load(&shared->stage)]++;
	there = check_left(k);
	if (there) {
		struct zr_writer *w;

		CHECK(data_create(&w, path, k, NULL, NULL) == -EEXIST,
		      "built over it");
	} else {
		CHECK(build(k), "the second build fails");
		check_whole(k, path, "the second build");
	}
	clear();
}

int main(int argc, char **argv)
{
	unsigned kills = argc > 1 ? (unsigned)atoi(argv[1]) : 200;
	uint64_t seed =
		argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)now_ns();
	int64_t whole[KINDS], publish[KINDS];
	size_t len;

	printf("engine_killed: seed %" PRIu64 "\n", seed);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	scratch_make(&dir);
	snprintf(path, sizeof(path), "%s/c", dir.dir);
	(void)data_dict(&len);
	for (int i = 0; i < KINDS; i++) {
		CHECK(build(&data_kinds[i]), "%s", data_kinds[i].name);
		whole[i] = shared->whole_ns;
		publish[i] = shared->publish_ns;
		clear();
	}
	for (unsigned n = 0; n < kills && !failures; n++) {
		/* All kinds aimed at and not, as 6 is a multiple of 3. */
		unsigned kind = (n + n / KINDS) % KINDS;

		kill_one(&data_kinds[kind], n, &seed, whole[kind],
			 publish[kind]);
		if (failures)
			printf("kill %u, %s, %s\n", n, data_kinds[kind].name,
			       stage_names[atomic_load(&shared->stage)]);
	}
	scratch_remove(&dir);
	for (int i = 0; i < STAGES; i++)
		printf("%s: %u  ", stage_names[i], fell[i]);
	printf("records recovered: %" PRIu64 "\n", recovered);
	CHECK(failures || fell[CREATING] + fell[APPENDING] + fell[PUBLISHING],
	      "no kill fell into a build");
	CHECK(failures || fell[PUBLISHING], "no kill fell into zr_publish");
	CHECK(failures || recovered, "no dead build had a record");
	if (!failures)
		puts("engine_killed: ok");
	return failures != 0;
}
