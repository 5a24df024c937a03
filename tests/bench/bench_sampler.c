/* SPDX-License-Identifier: BSD-2-Clause
 * Times the three orders that loaderx also has against loaderx's own sampler,
 * in turns in one process, and the others alone. JSON lines on stdout.
 *
 *     bench_sampler [PATH/TO/loaderx/lib/libsampler.so]                    */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "zloader.h"

enum { rounds = 31 };

/* loaderx's C interface. */
struct peer {
	void *(*init)(uint64_t length, uint64_t batch, uint8_t mode,
		      uint64_t seed);
	int (*next)(void *s, uint64_t *ids);
	void (*deinit)(void *s);
};

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v)
{
	qsort(v, rounds, sizeof(*v), ascending);
	return v[rounds / 2];
}

static bool load_peer(struct peer *p, const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return false;
	}
	/* POSIX: a function pointer fits where an object pointer does. */
	*(void **)&p->init = dlsym(lib, "cinit");
	*(void **)&p->next = dlsym(lib, "cnext");
	*(void **)&p->deinit = dlsym(lib, "cdeinit");
	return p->init && p->next && p->deinit;
}

static void compare(const struct peer *peer, const char *name,
		    struct zl_sampling how, uint64_t records)
{
	double ours[rounds], theirs[rounds];
	size_t steps = 400000 / how.batch, count;
	uint64_t *a = malloc(how.batch * 8), *b = malloc(how.batch * 8);
	bool both = peer && how.order <= ZL_CYCLIC;
	struct zl_sampler *s;
	void *p = NULL;

	if (!a || !b || zl_sampler_new(&s, records, &how, NULL))
		abort();
	if (both)
		p = peer->init(records, how.batch, (uint8_t)how.order,
			       how.seed);
	for (int r = 0; r < rounds; r++) {
		double t = now_us();

		for (size_t i = 0; i < steps; i++)
			zl_sampler_next(s, a, &count, NULL);
		ours[r] = (now_us() - t) / (double)steps;
		if (!both)
			continue;
		t = now_us();
		for (size_t i = 0; i < steps; i++)
			peer->next(p, b);
		theirs[r] = (now_us() - t) / (double)steps;
		if (memcmp(a, b, count * 8)) {
			fprintf(stderr, "%s: other ids than loaderx\n", name);
			exit(1);
		}
	}
	printf("{\"order\":\"%s\",\"records\":%" PRIu64 ",\"batch\":%" PRIu64
	       ",\"us\":%.3f,\"ns_per_id\":%.2f",
	       name, records, how.batch, median(ours),
	       median(ours) * 1e3 / (double)count);
	if (both) {
		printf(",\"loaderx_us\":%.3f,\"ratio\":%.2f", median(theirs),
		       median(theirs) / median(ours));
		peer->deinit(p);
	}
	puts("}");
	zl_sampler_free(s);
	free(a);
	free(b);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"sequential", "iid", "cyclic", "shuffle", "window", "weighted"
	};
	static const uint64_t batches[] = { 256, 1024, 8192 };
	static const uint64_t lengths[] = { 2500, 200000, 1048577 };
	struct peer peer;
	bool with = argc > 1 && load_peer(&peer, argv[1]);

	for (size_t l = 0; l < 3; l++) {
		uint64_t *w = malloc(lengths[l] * 8);
		struct zl_weights *weights;

		for (uint64_t i = 0; i < lengths[l]; i++)
			w[i] = 1 + i % 1000;
		if (zl_weights_new(&weights, w, lengths[l], NULL))
			return 1;
		for (int o = 0; o <= ZL_WEIGHTED; o++)
			for (size_t b = 0; b < 3; b++) {
				struct zl_sampling how = ZL_SAMPLING_INIT;

				how.order = (enum zl_order)o;
				how.batch = batches[b];
				how.seed = 42;
				how.window = 1000;
				how.weights = weights;
				compare(with ? &peer : NULL, names[o], how,
					lengths[l]);
			}
		zl_weights_free(weights);
		free(w);
	}
	return argc > 1 && !with;
}
