/* SPDX-License-Identifier: BSD-2-Clause
 * Property: a record of any bytes is served or is -EBADMSG, and all ways to
 * read it (whole, part, shape, check, gather; mapped and read) agree on which,
 * and on every byte. Input: see pack.h; the numbers of the header are put
 * right, so that most inputs open. */
#include "fuzz.h"
#include "pack.h"

#define RECORDS 16u
#define LONGEST ((uint64_t)4 << 20) /* more takes long and shows no more */

/* There is a sidecar that only zr_check compares with. */
static int unchecked;

/* What zr_read made of a record. */
struct seen {
	int rc;
	uint64_t bytes;
	struct zr_shape shape;
	uint8_t *at;
};

static void read_whole(struct zr_container *c, struct zr_reader *r, uint64_t i,
		       struct seen *s)
{
	uint64_t bound = zr_record_bound(c, i), bytes;
	struct zr_error err = { 0 };

	s->at = malloc(bound ? (size_t)bound : 1);
	must(s->at);
	s->rc = zr_read(r, i, s->at, (size_t)bound, &s->bytes, &s->shape, &err);
	must(s->rc == 0 || s->rc == -EBADMSG);
	if (s->rc) {
		must(err.code == s->rc && err.record == i && err.message[0]);
		return;
	}
	must(s->bytes <= bound);
	must(!zr_shape_size(&zr_info(c)->dtype, &s->shape, NULL, &bytes));
	must(bytes == s->bytes && bytes > 0);
}

/* By other functions, on another reader. */
static void read_otherwise(struct zr_reader *r, uint64_t i,
			   const struct seen *s)
{
	uint64_t from = s->rc ? 0 : s->bytes / 3, bytes = 0;
	size_t len = s->rc ? 1 : (size_t)(s->bytes - from);
	struct zr_shape shape;
	uint8_t *part = malloc(len);
	int rc, checked;

	must(part);
	rc = checked = zr_check(r, i, NULL);
	must(rc == s->rc || (unchecked && rc == -EBADMSG));
	rc = zr_record_shape(r, i, &shape, &bytes, NULL);
	must(rc == 0 || rc == -EBADMSG);
	must(s->rc ||
	     (rc == 0 && bytes == s->bytes && same_shape(&shape, &s->shape)));
	rc = zr_read_part(r, i, from, part, len, NULL);
	must(s->rc || (rc == 0 && !memcmp(part, s->at + from, len)));
	/* A part of a bad raw record may be read. */
	must(rc == 0 || rc == -EBADMSG);
	must(zr_check(r, i, NULL) == checked);
	free(part);
}

static void gather_dense(struct zr_container *c, struct zr_reader *r,
			 const uint64_t *ids, size_t n, int rc,
			 const struct seen *seen)
{
	size_t width = (size_t)zr_info(c)->record_bytes;
	uint8_t *buf;

	if (width > LONGEST)
		return;
	buf = malloc(n * width + 1);
	must(buf);
	must(zr_gather_dense(r, ids, n, buf, n * width, NULL) == rc);
	for (size_t i = 0; i < n && !rc; i++)
		must(!memcmp(buf + i * width, seen[ids[i]].at, width));
	free(buf);
}

static void gather_ragged(struct zr_reader *r, const uint64_t *ids, size_t n,
			  int rc, const struct seen *seen)
{
	struct zr_ragged b = { 0 };

	must(zr_gather_ragged(r, ids, n, &b, NULL) == rc);
	must(b.count == (rc ? 0 : n));
	for (size_t i = 0; i < b.count; i++) {
		const struct seen *s = &seen[ids[i]];
		uint64_t rank = b.dim_offsets[i + 1] - b.dim_offsets[i];

		must(rank == s->shape.rank);
		must(!memcmp(b.dims + b.dim_offsets[i], s->shape.dims,
			     8 * (size_t)rank));
		must(b.offsets[i + 1] - b.offsets[i] == s->bytes);
		must(!memcmp(b.values + b.offsets[i], s->at, (size_t)s->bytes));
	}
	zr_ragged_free(&b);
}

/* All records there and back; then only the good ones. */
static void gather(struct zr_container *c, struct zr_reader *r, size_t count,
		   const struct seen *seen)
{
	uint64_t all[2 * RECORDS], good[RECORDS];
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		all[i] = i;
		all[2 * count - 1 - i] = i;
		if (!seen[i].rc)
			good[n++] = i;
	}
	if (zr_info(c)->kind == ZR_DENSE) {
		gather_dense(c, r, all, 2 * count, n < count ? -EBADMSG : 0,
			     seen);
		gather_dense(c, r, good, n, 0, seen);
	} else {
		gather_ragged(r, all, 2 * count, n < count ? -EBADMSG : 0,
			      seen);
		gather_ragged(r, good, n, 0, seen);
	}
}

static void read_all(struct zr_container *c, struct seen *seen, size_t *count)
{
	struct zr_reader *r, *fresh;

	must(zr_reader_new(&r, c, NULL) == 0);
	must(zr_reader_new(&fresh, c, NULL) == 0);
	*count = 0;
	for (uint64_t i = 0; i < zr_info(c)->records && i < RECORDS; i++) {
		if (zr_record_bound(c, i) > LONGEST)
			break;
		read_whole(c, r, i, &seen[i]);
		read_otherwise(fresh, i, &seen[i]);
		(*count)++;
	}
	gather(c, r, *count, seen);
	zr_reader_free(r);
	zr_reader_free(fresh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum zr_placement places[] = { ZR_PLACE_MAP,
						    ZR_PLACE_READ };
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	struct seen seen[2][RECORDS];
	size_t count[2] = { 0, 0 };
	struct zr_container *c;
	const char *path;
	struct pack p;

	pack_read(&p, data, size, PACK_RECORD);
	path = pack_write(&p);
	opt.flags = p.how & (ZR_OPEN_CHECK | ZR_OPEN_NO_CHECKSUMS);
	unchecked = (p.flags & PACK_CHECK) && !opt.flags;
	for (int i = 0; i < 2; i++) {
		opt.placement = places[i];
		if (zr_open(&c, path, &opt, NULL))
			break;
		read_all(c, seen[i], &count[i]);
		zr_close(c);
	}
	must(count[0] == count[1]);
	for (size_t i = 0; i < count[0]; i++) {
		must(seen[0][i].rc == seen[1][i].rc);
		must(seen[0][i].rc || !memcmp(seen[0][i].at, seen[1][i].at,
					      (size_t)seen[0][i].bytes));
		free(seen[0][i].at);
		free(seen[1][i].at);
	}
	pack_free(&p);
	return 0;
}
