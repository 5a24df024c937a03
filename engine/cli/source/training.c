/* SPDX-License-Identifier: BSD-2-Clause
 * A dictionary trained on a source. */
#include "training.h"

#include <stdlib.h>
#include <string.h>

#include "common/progress.h"

static const struct tier tiers[] = {
	{ "balanced", (size_t)512 << 10, (size_t)16 << 20 },
	{ "fast", (size_t)32 << 10, (size_t)4 << 20 },
	{ "max", (size_t)2 << 20, (size_t)64 << 20 },
};

/* The dictionary is stored too, and in few records what it saves is soon less
 * than it takes. */
#define SOURCE_PER_DICT 64
#define DICT_MIN ((size_t)4 << 10)

const struct tier *tier_find(const char *name)
{
	if (!name)
		return &tiers[0];
	for (size_t i = 0; i < sizeof(tiers) / sizeof(tiers[0]); i++)
		if (!strcmp(tiers[i].name, name))
			return &tiers[i];
	return NULL;
}

/* Room for `len` more bytes and one more record. */
static int room_for(struct samples *s, size_t len)
{
	if (s->count == s->sizes_room) {
		size_t room = s->sizes_room ? 2 * s->sizes_room : 1024;
		size_t *grown = realloc(s->sizes, room * sizeof(size_t));

		if (!grown)
			return cli_fail("no memory for samples");
		s->sizes = grown;
		s->sizes_room = room;
	}
	if (s->room - s->len < len) {
		size_t room = s->room + s->room / 2 + len;
		unsigned char *grown = realloc(s->data, room);

		if (!grown)
			return cli_fail("no memory for samples");
		s->data = grown;
		s->room = room;
	}
	return CLI_OK;
}

static int add(struct samples *s, const unsigned char *p, size_t len)
{
	int status = room_for(s, len);

	if (status)
		return status;
	memcpy(s->data + s->len, p, len);
	s->len += len;
	s->sizes[s->count++] = len;
	return CLI_OK;
}

void samples_free(struct samples *s)
{
	free(s->data);
	free(s->sizes);
	memset(s, 0, sizeof(*s));
}

/* Samples are runs of records at even distances: reading one here and one
 * there costs as much as reading a run. */
#define PLACES 256

/* Records that are large against the budget: some must be seen for what they
 * have in common, so only their beginnings are. */
#define RECORDS_MIN 32

struct taking {
	struct samples *s;
	struct source *src;
	struct batch b;
	size_t most;   /* of one record */
	uint64_t at;   /* the next record of the source */
	uint64_t mean; /* of the records of the last batch */
};

/* One batch, of which records are taken until there are `quota` bytes of them
 * in all. */
static int take_batch(struct taking *t, uint64_t most, size_t quota)
{
	uint64_t bytes = 0;
	int status;

	t->src->batch_most = most < SIZE_MAX ? (size_t)most : SIZE_MAX;
	status = source_next(t->src, &t->b);
	for (size_t i = 0; i < t->b.count && !status; i++) {
		const unsigned char *p;
		size_t len = batch_record(t->src, &t->b, i, &p);

		bytes += len;
		if (t->s->len < quota)
			status = add(t->s, p, len < t->most ? len : t->most);
	}
	t->at += t->b.count;
	if (t->b.count)
		t->mean = bytes / t->b.count;
	return status;
}

/* Records from place `at` on, before `end`, up to the quota. */
static int take_run(struct taking *t, uint64_t at, uint64_t end, size_t quota)
{
	int status = at > t->at ? source_skip(t->src, at - t->at) : CLI_OK;

	if (at > t->at)
		t->at = at;
	t->mean = 0;
	while (!status && t->at < end && t->s->len < quota) {
		uint64_t want = 1;

		/* As many as the last ones let expect. */
		if (t->mean)
			want += (quota - t->s->len) / t->mean;
		status = take_batch(t, want < end - t->at ? want : end - t->at,
				    quota);
		if (!t->b.count)
			break;
	}
	return status;
}

/* The quota of a place grows with the places before it, so that what small
 * records leave is there for large ones, and large ones take no more than the
 * budget and one of them. */
static int take_places(struct taking *t, size_t budget)
{
	uint64_t records = t->src->records;
	uint64_t places = records < PLACES ? records : PLACES;
	uint64_t seen = 0, sum = 0;
	int status = CLI_OK;

	for (uint64_t k = 0; k < places && !status; k++) {
		size_t quota = budget / (size_t)places * (size_t)(k + 1);
		uint64_t from = t->at;

		if (t->s->len >= quota)
			continue;
		status = take_run(t, records * k / places,
				  records * (k + 1) / places, quota);
		if (t->at > from) {
			sum += t->mean;
			seen++;
		}
	}
	t->s->source = seen ? sum / seen * records : 0;
	return status;
}

int samples_take(struct samples *s, struct source *src, const struct tier *tier)
{
	struct taking t = { .s = s,
			    .src = src,
			    .most = tier->sample_bytes / RECORDS_MIN };
	int status = take_places(&t, tier->sample_bytes);

	src->batch_most = 0;
	batch_free(&t.b);
	return status ? status : source_rewind(src);
}

int samples_take_first(struct samples *s, struct source *src,
		       const struct tier *tier)
{
	struct batch b = { 0 };
	int status = CLI_OK;

	s->source = UINT64_MAX;
	while (!status && s->len < tier->sample_bytes) {
		status = source_next(src, &b);
		if (!b.count) {
			s->source = s->len;
			break;
		}
		for (size_t i = 0; i < b.count && !status; i++) {
			const unsigned char *p;
			size_t len = batch_record(src, &b, i, &p);

			status = add(s, p, len);
		}
	}
	batch_free(&b);
	return status;
}

int samples_train(const struct samples *s, const struct tier *tier,
		  const char *instead, unsigned char **dict, size_t *bytes)
{
	uint64_t size = s->source / SOURCE_PER_DICT;
	struct progress bar;
	struct zr_error err;
	int rc;

	if (size < DICT_MIN)
		size = DICT_MIN;
	if (size > tier->dict_bytes)
		size = tier->dict_bytes;
	*dict = malloc((size_t)size);
	if (!*dict)
		return cli_fail("no memory for a dictionary");
	progress_busy(&bar, "dictionary", "training");
	rc = zr_train(*dict, (size_t)size, bytes, s->data, s->sizes, s->count,
		      &err);
	progress_end(&bar);
	if (!rc)
		return CLI_OK;
	free(*dict);
	*dict = NULL;
	return cli_fail("%s; %s", err.message, instead);
}
