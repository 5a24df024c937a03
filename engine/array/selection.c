/* SPDX-License-Identifier: BSD-2-Clause
 * Ids and Python slices, as a user writes them, to ranges of ids. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "zrecord.h"

/* Numbers are read up to here: more than any count, and yet the arithmetic
 * of slices cannot overflow. */
#define CLAMP ((uint64_t)INT64_MAX)

struct number {
	bool there, negative;
	uint64_t value; /* its size, at most CLAMP */
};

/* One item: text[0, len), and what it belongs to. */
struct item {
	const char *text;
	size_t len;
	uint64_t records;
	struct zr_error *err;
};

static void trim(const char **p, size_t *len)
{
	while (*len && memchr(" \t", **p, 2)) {
		(*p)++;
		(*len)--;
	}
	while (*len && memchr(" \t", (*p)[*len - 1], 2))
		(*len)--;
}

/* The item for a message: printable, cut when long. */
static const char *shown(const struct item *it, char buf[static 44])
{
	size_t n = it->len < 40 ? it->len : 40;

	for (size_t i = 0; i < n; i++)
		buf[i] = it->text[i] < ' ' || it->text[i] > '~' ? '?'
								: it->text[i];
	strcpy(buf + n, it->len > n ? "..." : "");
	return buf;
}

static int bad(const struct item *it, const char *why)
{
	char buf[44];

	return zr_fail(it->err, -EINVAL, NULL, "selection item '%s': %s",
		       shown(it, buf), why);
}

/* An optional '-' and digits, with spaces around them, or nothing. */
static bool read_number(const char *p, size_t len, struct number *out)
{
	*out = (struct number){ 0 };
	trim(&p, &len);
	if (!len)
		return true;
	out->there = true;
	if (*p == '-') {
		out->negative = true;
		p++;
		len--;
	}
	for (size_t i = 0; i < len; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
		if (!zr_mul(out->value, 10, &out->value) ||
		    !zr_add(out->value, (uint64_t)(p[i] - '0'), &out->value) ||
		    out->value > CLAMP)
			out->value = CLAMP;
	}
	return len > 0;
}

static int parse_id(const struct item *it, struct zr_range *out)
{
	struct zr_facts facts = { ZR_NONE, ZR_NONE, it->records, ZR_NONE };
	struct number id;
	char buf[44];

	if (!read_number(it->text, it->len, &id))
		return bad(it, "neither an id nor a slice");
	if (id.negative)
		return bad(it, "negative indices are not supported");
	/* A clamped id is past the end too: there are at most CLAMP. */
	if (id.value >= it->records) {
		facts.record = facts.found = id.value;
		return zr_fail_at(it->err, -ERANGE, NULL, facts,
				  "record %s: there are %llu records",
				  shown(it, buf),
				  (unsigned long long)it->records);
	}
	*out = (struct zr_range){ id.value, 1, 1 };
	return 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* slice.indices(n) with a step above 0. */
static struct zr_range forward(const struct number *start,
			       const struct number *stop, uint64_t step,
			       uint64_t n)
{
	uint64_t from = start->there ? least(start->value, n) : 0;
	uint64_t to = stop->there ? least(stop->value, n) : n;
	struct zr_range r = { from, (int64_t)step, 0 };

	if (from < to)
		r.count = (to - from - 1) / step + 1;
	return r;
}

/* slice.indices(n) with a step below 0, whose size is `step`. Without a stop
 * it ends at -1, so all is counted from 1 here. */
static struct zr_range backward(const struct number *start,
				const struct number *stop, uint64_t step,
				uint64_t n)
{
	uint64_t from = start->there ? least(start->value + 1, n) : n;
	uint64_t to = stop->there ? least(stop->value + 1, n) : 0;
	struct zr_range r = { from - 1, -(int64_t)step, 0 };

	if (from > to)
		r.count = (from - to - 1) / step + 1;
	return r;
}

static int parse_slice(const struct item *it, struct zr_range *out)
{
	struct number part[3] = { { 0 } };
	const char *p = it->text, *end = p + it->len, *colon;

	for (size_t i = 0; p; i++) {
		colon = memchr(p, ':', (size_t)(end - p));
		if (i == 3)
			return bad(it, "a slice has at most two colons");
		if (!read_number(p, (size_t)((colon ? colon : end) - p),
				 &part[i]))
			return bad(it, "not a slice");
		p = colon ? colon + 1 : NULL;
	}
	if (part[0].negative || part[1].negative)
		return bad(it, "negative indices are not supported");
	if (!part[2].there)
		part[2].value = 1;
	if (!part[2].value)
		return bad(it, "the step is 0");
	*out = (part[2].negative ? backward : forward)(
		&part[0], &part[1], part[2].value, it->records);
	return 0;
}

/* The item that begins at `from`, up to a comma or the end. */
static const char *next_item(const char *from, const char *end, struct item *it)
{
	const char *comma = memchr(from, ',', (size_t)(end - from));

	it->text = from;
	it->len = (size_t)((comma ? comma : end) - from);
	trim(&it->text, &it->len);
	return comma ? comma + 1 : NULL;
}

static int parse_items(struct zr_selection *sel, const char *text, size_t len,
		       struct item *it)
{
	struct zr_range *r;
	int rc;

	for (const char *p = text; p;) {
		p = next_item(p, text + len, it);
		if (!it->len)
			return zr_fail(it->err, -EINVAL, NULL,
				       "a selection has an empty item");
		r = &sel->ranges[sel->range_count];
		rc = memchr(it->text, ':', it->len) ? parse_slice(it, r)
						    : parse_id(it, r);
		if (rc)
			return rc;
		if (!r->count)
			continue;
		sel->range_count++;
		if (!zr_add(sel->count, r->count, &sel->count) ||
		    sel->count > INT64_MAX)
			return zr_fail(it->err, -EINVAL, NULL,
				       "a selection of more than 2^63-1 ids");
	}
	return 0;
}

int zr_selection_parse(struct zr_selection *out, const char *text, size_t len,
		       uint64_t records, struct zr_error *err)
{
	struct item it = { .records = records, .err = err };
	size_t items = 1;
	int rc;

	*out = (struct zr_selection){ 0 };
	if (records > CLAMP)
		return zr_fail(err, -EINVAL, NULL,
			       "a container has at most 2^63-1 records");
	for (size_t i = 0; i < len; i++)
		items += text[i] == ',';
	next_item(text, text + len, &it);
	if (items == 1 && !it.len)
		return zr_fail(err, -EINVAL, NULL, "the selection is empty");
	out->ranges = calloc(items, sizeof(*out->ranges));
	if (!out->ranges)
		return zr_fail(err, -ENOMEM, NULL, "no memory for a selection");
	rc = parse_items(out, text, len, &it);
	if (rc)
		zr_selection_free(out);
	return rc;
}

size_t zr_selection_ids(const struct zr_selection *sel, uint64_t first,
			size_t count, uint64_t *ids)
{
	size_t n = 0;

	for (size_t i = 0; i < sel->range_count && n < count; i++) {
		const struct zr_range *r = &sel->ranges[i];

		if (first >= r->count) {
			first -= r->count;
			continue;
		}
		/* The exact id is in range; only the way there wraps. */
		for (; first < r->count && n < count; first++)
			ids[n++] = r->start + first * (uint64_t)r->step;
		first = 0;
	}
	return n;
}

void zr_selection_free(struct zr_selection *sel)
{
	free(sel->ranges);
	*sel = (struct zr_selection){ 0 };
}
