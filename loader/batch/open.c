/* SPDX-License-Identifier: BSD-2-Clause
 * Creates a loader: checks that the streams fit together, and lays out a
 * batch. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "order/random.h"
#include "ring.h"
#include "slot.h"

#define STREAMS_MAX 64u
#define ARRAY_ALIGN ((size_t)4096)

static int check_name(const struct zl_loader *l, const char *name,
		      struct zl_error *err)
{
	size_t len = name ? strlen(name) : 0;

	if (!len || len > ZL_NAME_MAX)
		return zl_fail(err, -EINVAL, "%s %zu: a name has 1..%u bytes",
			       l->sources < l->streams ? "stream" : "output",
			       l->sources < l->streams
				       ? l->sources
				       : l->sources - l->streams,
			       ZL_NAME_MAX);
	for (size_t i = 0; i < l->sources; i++)
		if (!strcmp(l->source[i].name, name))
			return zl_fail(err, -EINVAL,
				       "two streams or outputs are named "
				       "\"%s\"",
				       name);
	return 0;
}

/* The number of records that most streams have, so that the message names
 * the odd one and not just the second. */
static uint64_t usual_records(const struct zl_stream *streams, size_t count)
{
	uint64_t usual = 0;
	size_t most = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t n = zr_info(streams[i].container)->records;
		size_t same = 0;

		for (size_t j = 0; j < count; j++)
			same += zr_info(streams[j].container)->records == n;
		if (same > most) {
			most = same;
			usual = n;
		}
	}
	return usual;
}

static int check_lengths(const struct zl_stream *streams, size_t count,
			 uint64_t *records, struct zl_error *err)
{
	if (!count || count > STREAMS_MAX)
		return zl_fail(err, -EINVAL, "%zu streams, 1..%u expected",
			       count, STREAMS_MAX);
	for (size_t i = 0; i < count; i++)
		if (!streams[i].container)
			return zl_fail(err, -EINVAL,
				       "stream %zu (\"%s\"): no container", i,
				       streams[i].name ? streams[i].name : "");
	*records = usual_records(streams, count);
	for (size_t i = 0; i < count; i++) {
		uint64_t n = zr_info(streams[i].container)->records;

		if (n == *records)
			continue;
		zl_fail(err, -EINVAL,
			"stream \"%s\" has %llu records, the others have %llu",
			streams[i].name ? streams[i].name : "",
			(unsigned long long)n, (unsigned long long)*records);
		if (err && streams[i].name)
			strncpy(err->stream, streams[i].name,
				sizeof(err->stream) - 1);
		return -EINVAL;
	}
	return 0;
}

/* Give a Dense source its place in the slot's region. */
static int place_dense(struct zl_loader *l, struct zl_source *s,
		       struct zl_error *err)
{
	uint64_t bytes;

	if (s->kind != ZR_DENSE)
		return 0;
	if (s->item_shape.rank >= ZR_RANK_MAX)
		return zl_fail(err, -EINVAL, "\"%s\": over %d dimensions",
			       s->name, ZR_RANK_MAX - 1);
	if (__builtin_mul_overflow(s->record_bytes, l->room, &bytes) ||
	    bytes > INT64_MAX / 4 - l->dense_bytes)
		return zl_fail(err, -ENOMEM, "\"%s\": no memory for a batch",
			       s->name);
	s->offset = l->dense_bytes;
	l->dense_bytes += (bytes + ARRAY_ALIGN - 1) & ~(ARRAY_ALIGN - 1);
	return 0;
}

static int add_stream(struct zl_loader *l, const struct zl_stream *stream,
		      struct zl_error *err)
{
	const struct zr_info *info = zr_info(stream->container);
	struct zl_source *s = &l->source[l->sources];
	int rc = check_name(l, stream->name, err);

	if (rc)
		return rc;
	strcpy(s->name, stream->name);
	s->container = stream->container;
	s->kind = info->kind;
	s->dtype = info->dtype;
	s->item_shape = info->item_shape;
	s->record_bytes = info->record_bytes;
	l->sources++;
	return place_dense(l, s, err);
}

static int add_output(struct zl_loader *l, const struct zl_output *output,
		      struct zl_error *err)
{
	struct zl_source *s = &l->source[l->sources];
	int rc = check_name(l, output->name, err);

	if (rc)
		return rc;
	strcpy(s->name, output->name);
	s->kind = ZR_DENSE;
	s->dtype = output->dtype;
	s->item_shape = output->item_shape;
	if (!s->dtype.itemsize ||
	    zr_shape_size(&s->dtype, &s->item_shape, NULL, &s->record_bytes))
		return zl_fail(err, -EINVAL,
			       "output \"%s\": elements of no size, over %d "
			       "dimensions or over 2^63 - 1 bytes",
			       s->name, ZR_RANK_MAX);
	l->sources++;
	return place_dense(l, s, err);
}

static uint64_t hash_bytes(uint64_t h, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++)
		h = zl_mix(h, p[i], 11);
	return h;
}

/* What a state must find again. Not the path and the times, which change
 * when a container is copied. */
static uint64_t identity(const struct zl_loader *l)
{
	uint64_t h = l->streams;

	for (size_t i = 0; i < l->streams; i++) {
		const struct zr_info *info = zr_info(l->source[i].container);
		const struct zr_shape *shape = &info->item_shape;

		h = hash_bytes(h, l->source[i].name,
			       strlen(l->source[i].name) + 1);
		h = hash_bytes(h, info->dtype.str, strlen(info->dtype.str));
		h = zl_mix(h, (uint64_t)info->kind, 12);
		h = zl_mix(h, (uint64_t)info->codec, 12);
		h = zl_mix(h, info->records, 12);
		h = zl_mix(h, info->stored_bytes, 12);
		for (uint32_t d = 0; d < shape->rank; d++)
			h = zl_mix(h, shape->dims[d], 13);
	}
	return h;
}

static int check_options(const struct zl_options *opt, struct zl_error *err)
{
	if (opt->size != sizeof(*opt))
		return zl_fail(
			err, -EINVAL,
			"struct zl_options: size %zu expected, %zu found",
			sizeof(*opt), opt->size);
	if (opt->flags & ~(ZL_UNORDERED | ZL_SKIP | ZL_PIN))
		return zl_fail(err, -EINVAL, "unknown flags");
	if (opt->ring < 2 || opt->ring > 1024)
		return zl_fail(err, -EINVAL, "ring: 2..1024 expected, %u found",
			       opt->ring);
	if (opt->threads > 1024 || opt->transform_threads > 1024)
		return zl_fail(err, -EINVAL, "over 1024 threads");
	if (opt->outputs > STREAMS_MAX ||
	    (opt->outputs && (!opt->transform || !opt->output)))
		return zl_fail(err, -EINVAL,
			       "outputs: at most %u, and a transform that "
			       "fills them",
			       STREAMS_MAX);
	return 0;
}

static void init_sync(struct zl_loader *l)
{
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->space, NULL);
	pthread_cond_init(&l->work, NULL);
	pthread_cond_init(&l->ready, NULL);
	pthread_cond_init(&l->left, NULL);
}

static int fill_loader(struct zl_loader *l, const struct zl_stream *streams,
		       size_t count, uint64_t records, struct zl_error *err)
{
	int rc = zl_sampler_new(&l->sampler, records, &l->opt.sampling, err);

	if (rc)
		return rc;
	l->room = zl_sampler_room(l->sampler);
	l->streams = count;
	l->source = calloc(count + l->opt.outputs, sizeof(*l->source));
	l->thread = calloc(1 + l->opt.transform_threads, sizeof(*l->thread));
	if (!l->source || !l->thread)
		return zl_fail(err, -ENOMEM, "loader: no memory");
	for (size_t i = 0; i < count && !rc; i++)
		rc = add_stream(l, &streams[i], err);
	for (size_t i = 0; i < l->opt.outputs && !rc; i++)
		rc = add_output(l, &l->opt.output[i], err);
	if (rc)
		return rc;
	if (zl_ring_make(l))
		return zl_fail(err, -ENOMEM,
			       "no memory for %u batches of %zu bytes",
			       l->slots, l->dense_bytes);
	l->sampler->containers = identity(l);
	zl_sampler_save(l->sampler, &l->drawn);
	return 0;
}

int zl_open(struct zl_loader **out, const struct zl_stream *streams,
	    size_t count, const struct zl_options *opt, struct zl_error *err)
{
	struct zl_options plain = ZL_OPTIONS_INIT;
	uint64_t records = 0;
	struct zl_loader *l;
	int rc;

	*out = NULL;
	rc = check_options(opt ? opt : &plain, err);
	if (!rc)
		rc = check_lengths(streams, count, &records, err);
	if (rc)
		return rc;
	l = calloc(1, sizeof(*l));
	if (!l)
		return zl_fail(err, -ENOMEM, "loader: no memory");
	l->opt = opt ? *opt : plain;
	if (!l->opt.transform)
		l->opt.transform_threads = 0;
	else if (!l->opt.transform_threads)
		l->opt.transform_threads = 1;
	init_sync(l);
	rc = fill_loader(l, streams, count, records, err);
	if (rc) {
		zl_loader_free(l);
		return rc;
	}
	l->opt.output = NULL;
	*out = l;
	return 0;
}
