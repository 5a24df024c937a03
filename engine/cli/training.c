/* SPDX-License-Identifier: BSD-2-Clause
 * A dictionary trained on a source. */
#include "training.h"

#include <stdlib.h>
#include <string.h>

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

int samples_add(struct samples *s, const unsigned char *p, size_t len)
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

/* The mean record, by those of the first batch. */
static int mean_bytes(struct source *src, struct batch *b, uint64_t *mean)
{
	const unsigned char *p;
	uint64_t sum = 0;
	int status = source_next(src, b);

	for (size_t i = 0; i < b->count; i++)
		sum += batch_record(src, b, i, &p);
	*mean = b->count ? sum / b->count : 0;
	if (!*mean)
		*mean = 1;
	return status ? status : source_rewind(src);
}

/* `want` records in runs at even distances: reading one record here and one
 * there costs as much as reading a run. */
#define PLACES 256

/* Records that are large against the budget: some must be seen for what they
 * have in common, so only their beginnings are. */
#define RECORDS_MIN 32

static int take_runs(struct samples *s, struct source *src, struct batch *b,
		     uint64_t want, size_t most)
{
	uint64_t places = want < PLACES ? want : PLACES;
	uint64_t run = want / places, gap = src->records / places - run;
	int status = CLI_OK;

	for (uint64_t k = 0; k < places && !status; k++) {
		for (uint64_t got = 0; got < run && !status;) {
			src->batch_most = (size_t)(run - got);
			status = source_next(src, b);
			if (!b->count)
				return status;
			for (size_t i = 0; i < b->count && !status; i++) {
				const unsigned char *p;
				size_t len = batch_record(src, b, i, &p);

				status = samples_add(s, p,
						     len < most ? len : most);
			}
			got += b->count;
		}
		if (!status)
			status = source_skip(src, gap);
	}
	return status;
}

int samples_take(struct samples *s, struct source *src, const struct tier *tier)
{
	struct batch b = { 0 };
	size_t most = SIZE_MAX;
	uint64_t mean, want;
	int status = mean_bytes(src, &b, &mean);

	s->source = mean * src->records;
	want = tier->sample_bytes / mean;
	if (want < RECORDS_MIN) {
		want = RECORDS_MIN;
		most = tier->sample_bytes / RECORDS_MIN;
	}
	if (want > src->records)
		want = src->records;
	if (!status && want)
		status = take_runs(s, src, &b, want, most);
	src->batch_most = 0;
	batch_free(&b);
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

			status = samples_add(s, p, len);
		}
	}
	batch_free(&b);
	return status;
}

int samples_train(const struct samples *s, const struct tier *tier,
		  const char *instead, unsigned char **dict, size_t *bytes)
{
	uint64_t size = s->source / SOURCE_PER_DICT;
	struct zr_error err;

	if (size < DICT_MIN)
		size = DICT_MIN;
	if (size > tier->dict_bytes)
		size = tier->dict_bytes;
	*dict = malloc((size_t)size);
	if (!*dict)
		return cli_fail("no memory for a dictionary");
	if (!zr_train(*dict, (size_t)size, bytes, s->data, s->sizes, s->count,
		      &err))
		return CLI_OK;
	free(*dict);
	*dict = NULL;
	return cli_fail("%s; %s", err.message, instead);
}
