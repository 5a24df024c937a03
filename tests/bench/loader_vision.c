/* SPDX-License-Identifier: BSD-2-Clause
 * Batches per second of the loader on one Dense |u1
 * container, without and with a transform to normalised float32.
 *
 *     loader_vision CONTAINER [SECONDS [THREADS [RING [TRANSFORM [STEP_MS
 *                   [PLACEMENT]]]]]]
 *
 * TRANSFORM: 0 none, 1 uint8 to float32. STEP_MS: what a training step takes,
 * spent while the batch is held. PLACEMENT: a number of enum zr_placement.
 * One JSON line; tests/bench/loader_peers.py runs this beside the others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "zloader.h"

static int normalise(void *ctx, struct zl_batch *b)
{
	const unsigned char *restrict from = b->array[0].data;
	float *restrict to = (float *)(void *)b->array[1].data;

	(void)ctx;
	for (size_t i = 0; i < b->array[0].bytes; i++)
		to[i] = (float)from[i] * (1 / 127.5f) - 1;
	return 0;
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? atof(argv[2]) : 5, from, took;
	bool change = argc > 5 && atoi(argv[5]);
	struct zl_options opt = ZL_OPTIONS_INIT;
	struct zl_output output = { .name = "f" };
	struct zr_open_options how = ZR_OPEN_OPTIONS_INIT;
	struct zr_container *c;
	struct zl_stream stream = { "x", NULL };
	struct zl_stats stats;
	struct zl_loader *l;
	struct zl_error e;
	char text[1024];
	unsigned steps = 0;
	unsigned step_ms = argc > 6 ? (unsigned)atoi(argv[6]) : 0;

	how.placement = argc > 7 ? (enum zr_placement)atoi(argv[7]) : 0;
	if (argc < 2 || zr_open(&c, argv[1], &how, NULL))
		return 1;
	stream.container = c;
	opt.sampling.remainder = ZL_DROP; /* as loaderx: full batches */
	opt.threads = argc > 3 ? (unsigned)atoi(argv[3]) : 2;
	opt.ring = argc > 4 ? (unsigned)atoi(argv[4]) : 4;
	zr_dtype_parse(&output.dtype, "<f4", 3);
	output.item_shape = zr_info(c)->item_shape;
	if (change) {
		opt.transform = normalise;
		opt.transform_threads = 2;
		opt.output = &output;
		opt.outputs = 1;
	}
	if (zl_open(&l, &stream, 1, &opt, &e)) {
		fprintf(stderr, "%s\n", e.message);
		return 1;
	}
	for (from = now(); (took = now() - from) < seconds; steps++) {
		struct zl_batch *b;

		if (zl_next(l, &b, &e)) {
			fprintf(stderr, "%s\n", e.message);
			return 1;
		}
		if (step_ms)
			usleep(step_ms * 1000);
		zl_return(b);
	}
	zl_stats(l, &stats);
	zl_stats_text(&stats, text, sizeof(text));
	fputs(text, stderr);
	printf("{\"loader\":\"zloader\",\"container\":\"%s\",\"transform\":%d,"
	       "\"batches_per_s\":%.1f}\n",
	       argv[1], change, steps / took);
	zl_close(&l);
	zr_close(c);
	return 0;
}
