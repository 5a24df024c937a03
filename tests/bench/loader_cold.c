/* SPDX-License-Identifier: BSD-2-Clause
 * Batches of a container that is on the disk and not in memory: gathered one
 * after the other, and by the loader, which asks for a step ahead.
 *
 *     loader_cold CONTAINER [STEPS [ROUNDS [BATCH [STEP_MS]]]]
 *
 * Each runs in a process of its own, in turn, after the data was dropped from
 * the page cache, on the same ids; STEP_MS is what a training step takes.
 * Prints one JSON line: medians of batches per second. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "zloader.h"

enum { rounds_max = 99, contenders = 4 };

/* The way, and where the data is. */
static const char *const names[contenders] = { "gather_mapped", "loader_mapped",
					       "gather_read", "loader_read" };

static const char *path;
static size_t batch = 256;
static unsigned steps = 20, step_ms;

static void train(void)
{
	if (step_ms)
		usleep(step_ms * 1000);
}

static void gather(struct zr_container *c, const struct zl_sampling *how)
{
	uint64_t *ids = malloc(how->batch * sizeof(*ids));
	size_t size = how->batch * zr_info(c)->record_bytes, count;
	unsigned char *dst = size ? malloc(size) : NULL;
	struct zr_ragged ragged = { 0 };
	struct zl_sampler *s;
	struct zr_executor *ex;
	struct zr_reader *r;
	struct zr_error e;

	if (zl_sampler_new(&s, zr_info(c)->records, how, NULL) ||
	    zr_executor_new(&ex, 2) || zr_reader_new(&r, c, ex))
		die("no memory");
	for (unsigned i = 0; i < steps; i++) {
		zl_sampler_next(s, ids, &count, NULL);
		if (size ? zr_gather_dense(r, ids, count, dst, size, &e)
			 : zr_gather_ragged(r, ids, count, &ragged, &e))
			die(e.message);
		train();
	}
}

static void load(struct zr_container *c, const struct zl_sampling *how)
{
	struct zl_options opt = ZL_OPTIONS_INIT;
	struct zl_stream stream = { "x", c };
	struct zl_loader *l;
	struct zl_batch *b;
	struct zl_error e;

	opt.sampling = *how;
	opt.threads = 2;
	if (zl_open(&l, &stream, 1, &opt, &e))
		die(e.message);
	for (unsigned i = 0; i < steps; i++) {
		if (zl_next(l, &b, &e))
			die(e.message);
		train();
		zl_return(b);
	}
	zl_close(&l);
}

static double run(int which, uint64_t seed)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	struct zl_sampling how = ZL_SAMPLING_INIT;
	struct zr_container *c;
	struct zr_error e;
	double from;

	opt.placement = which < 2 ? ZR_PLACE_MAP : ZR_PLACE_READ;
	how.batch = batch;
	how.seed = seed;
	if (zr_open(&c, path, &opt, &e))
		die(e.message);
	from = now();
	(which % 2 ? load : gather)(c, &how);
	return steps / (now() - from);
}

static double in_child(int which, uint64_t seed)
{
	int fd[2], status;
	double rate;
	pid_t pid;

	drop_data(path);
	if (pipe(fd) || (pid = fork()) < 0)
		die("fork");
	if (!pid) {
		rate = run(which, seed);
		_exit(write(fd[1], &rate, sizeof(rate)) != sizeof(rate));
	}
	close(fd[1]);
	if (read(fd[0], &rate, sizeof(rate)) != sizeof(rate))
		die("a contender failed");
	close(fd[0]);
	waitpid(pid, &status, 0);
	return rate;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static double rate[contenders][rounds_max];
	unsigned rounds = 5;

	if (argc < 2)
		die("usage: loader_cold CONTAINER [STEPS [ROUNDS [BATCH "
		    "[STEP_MS]]]]");
	path = argv[1];
	if (argc > 2)
		steps = (unsigned)atoi(argv[2]);
	if (argc > 3)
		rounds = (unsigned)atoi(argv[3]);
	if (argc > 4)
		batch = (size_t)atol(argv[4]);
	if (argc > 5)
		step_ms = (unsigned)atoi(argv[5]);
	if (!steps || !rounds || rounds > rounds_max || !batch)
		die("a number is 0 or too large");
	for (unsigned r = 0; r < rounds; r++)
		for (int i = 0; i < contenders; i++)
			rate[i][r] = in_child(i, r + 1);
	printf("{\"container\":\"%s\",\"batch\":%zu,\"steps\":%u,"
	       "\"step_ms\":%u,\"rounds\":%u",
	       path, batch, steps, step_ms, rounds);
	for (int i = 0; i < contenders; i++) {
		qsort(rate[i], rounds, sizeof(rate[i][0]), ascending);
		printf(",\"%s\":%.2f", names[i], rate[i][rounds / 2]);
	}
	puts("}");
	return 0;
}
