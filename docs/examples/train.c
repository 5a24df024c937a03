/* SPDX-License-Identifier: BSD-2-Clause
 * A trainer that reads with libzloader: logistic regression on the pixels of
 * a Dense |u1 container against a Dense integer label container, record by
 * record in step. Stops after a number of steps; started again with the same
 * state file it goes on with the step where it stopped, on any number of ranks
 * (a real trainer saves its weights beside the state, and adds the gradients of
 * its ranks). docs/LOADER.md tells of runs on several machines.
 *
 *     cc -O2 train.c $(pkg-config --cflags --libs libzloader) -lm -o train
 *     ./train images.zr labels.zr 1000 run.state
 *     mpirun -n 4 ./train images.zr labels.zr 1000 run.state    ranks 0..3
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zloader.h>

struct model {
	uint32_t rank;
	size_t inputs;
	float *weight;
	float bias;
	double loss; /* sum since the last report */
	size_t seen;
};

/* Runs on the loader's threads: bytes to floats around 0. */
static int normalise(void *ctx, struct zl_batch *b)
{
	const unsigned char *from = b->array[0].data;
	float *to = (float *)(void *)b->array[2].data;
	size_t n = b->array[0].bytes;

	(void)ctx;
	for (size_t i = 0; i < n; i++)
		to[i] = ((float)from[i] - 127.5f) / 127.5f;
	return 0;
}

/* A little-endian integer of any size. */
static uint64_t label_of(const struct zl_array *a, size_t i)
{
	const unsigned char *p = a->data + i * a->dtype.itemsize;
	uint64_t v = 0;

	for (uint32_t k = 0; k < a->dtype.itemsize && k < 8; k++)
		v |= (uint64_t)p[k] << 8 * k;
	return v;
}

/* One step: is the label odd? */
static void train(struct model *m, const struct zl_batch *b)
{
	const float *x = (const float *)(const void *)b->array[2].data;
	float rate = 0.1f / (float)m->inputs;

	for (size_t i = 0; i < b->count; i++, x += m->inputs) {
		float want = (float)(label_of(&b->array[1], i) & 1);
		float sum = m->bias, error;

		for (size_t j = 0; j < m->inputs; j++)
			sum += m->weight[j] * x[j];
		error = 1 / (1 + expf(-sum)) - want;
		for (size_t j = 0; j < m->inputs; j++)
			m->weight[j] -= rate * error * x[j];
		m->bias -= rate * error;
		m->loss += fabsf(error);
		m->seen++;
	}
}

static int load_state(struct zl_loader *l, const char *path)
{
	struct zl_state state;
	struct zl_error err;
	FILE *f = fopen(path, "rb");
	size_t whole;

	if (!f)
		return 0; /* the first run */
	whole = fread(&state, sizeof(state), 1, f);
	fclose(f);
	if (whole != 1) {
		fprintf(stderr, "%s: not a state\n", path);
		return -1;
	}
	if (zl_restore(l, &state, &err)) {
		fprintf(stderr, "%s: %s\n", path, err.message);
		return -1;
	}
	return 0;
}

/* Whole or not at all: a run may be killed here too. All ranks have the same
 * state, so one of them saves it. */
static int save_state(struct zl_loader *l, const char *path)
{
	struct zl_state state;
	char part[4096];
	FILE *f;
	int ok;

	if (snprintf(part, sizeof(part), "%s.part", path) >= (int)sizeof(part))
		return -1;
	f = fopen(part, "wb");
	if (!f) {
		perror(part);
		return -1;
	}
	zl_save(l, &state);
	ok = fwrite(&state, sizeof(state), 1, f) == 1;
	if (fclose(f) || !ok || rename(part, path)) {
		perror(path);
		return -1;
	}
	return 0;
}

static int run(struct zl_loader *l, struct model *m, long steps)
{
	struct zl_stats stats;
	struct zl_batch *b;
	struct zl_error err;
	char text[1024];

	for (long k = 0; k < steps; k++) {
		if (zl_next(l, &b, &err)) {
			fprintf(stderr, "%s\n", err.message);
			return -1;
		}
		if (b->array[1].kind != ZR_DENSE ||
		    b->array[1].bytes !=
			    b->count * b->array[1].dtype.itemsize) {
			fprintf(stderr, "a label must be one number\n");
			return -1;
		}
		train(m, b);
		if (k % 100 == 0)
			printf("rank %u step %llu epoch %llu error %.4f\n",
			       m->rank, (unsigned long long)b->step,
			       (unsigned long long)b->epoch,
			       m->seen ? m->loss / (double)m->seen : 0.0);
		zl_return(b);
	}
	if (m->rank == 0) {
		zl_stats(l, &stats);
		zl_stats_text(&stats, text, sizeof(text));
		fputs(text, stdout);
	}
	return 0;
}

static struct zl_loader *open_loader(const struct zl_stream *streams,
				     uint32_t *rank)
{
	const struct zr_info *info = zr_info(streams[0].container);
	struct zl_output output = { .name = "input" };
	struct zl_options opt = ZL_OPTIONS_INIT;
	struct zl_loader *l = NULL;
	struct zl_error err;

	zr_dtype_parse(&output.dtype, "<f4", 3);
	output.item_shape = info->item_shape;
	opt.sampling.batch = 64; /* of all ranks together */
	opt.sampling.seed = 1;
	opt.transform = normalise;
	opt.output = &output;
	opt.outputs = 1;
	if (zl_rank_from_env(&opt.sampling.rank, &opt.sampling.world, &err) ||
	    zl_open(&l, streams, 2, &opt, &err))
		fprintf(stderr, "%s\n", err.message);
	*rank = opt.sampling.rank;
	return l;
}

static struct zr_container *open_container(const char *path, uint32_t max_item)
{
	struct zr_container *c;
	struct zr_error err;

	if (zr_open(&c, path, NULL, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return NULL;
	}
	if (zr_info(c)->kind != ZR_DENSE ||
	    !strchr("iu", zr_info(c)->dtype.kind) ||
	    zr_info(c)->dtype.itemsize > max_item) {
		fprintf(stderr,
			"%s: Dense integers of at most %u bytes wanted\n", path,
			max_item);
		zr_close(c);
		return NULL;
	}
	return c;
}

int main(int argc, char **argv)
{
	struct zl_stream streams[] = { { "image", NULL }, { "label", NULL } };
	struct model m = { 0 };
	struct zl_loader *l = NULL;
	int rc = 1;

	if (argc < 4) {
		fprintf(stderr, "usage: train IMAGES LABELS STEPS [STATE]\n");
		return 2;
	}
	streams[0].container = open_container(argv[1], 1);
	streams[1].container = open_container(argv[2], 8);
	if (streams[0].container && streams[1].container)
		l = open_loader(streams, &m.rank);
	if (l) {
		m.inputs = zr_info(streams[0].container)->record_bytes;
		m.weight = calloc(m.inputs, sizeof(*m.weight));
	}
	if (m.weight && (argc < 5 || !load_state(l, argv[4])) &&
	    !run(l, &m, atol(argv[3])) &&
	    (argc < 5 || m.rank || !save_state(l, argv[4])))
		rc = 0;
	zl_close(&l);
	free(m.weight);
	zr_close((struct zr_container *)(void *)streams[0].container);
	zr_close((struct zr_container *)(void *)streams[1].container);
	return rc;
}
