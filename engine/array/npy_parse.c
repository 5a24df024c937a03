/* SPDX-License-Identifier: BSD-2-Clause
 * The header of a .npy file to dtype and shape: a parser for the one Python
 * dict that may stand there, and for nothing else that Python can say. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "zrecord.h"

/* Longer than any dtype; what is longer is cut in messages only. */
#define WORD_MAX 40

struct cursor {
	const unsigned char *p, *end;
	struct zr_npy *npy;
	struct zr_error *err;
};

/* A piece of the header, made fit for a message. */
struct word {
	char text[WORD_MAX + 4];
};

static struct word word_of(const unsigned char *p, size_t len)
{
	struct word w;
	size_t n = len < WORD_MAX ? len : WORD_MAX;

	for (size_t i = 0; i < n; i++)
		w.text[i] = p[i] < 0x20 || p[i] > 0x7e ? '?' : (char)p[i];
	strcpy(w.text + n, len > n ? "..." : "");
	return w;
}

/* What stands at the cursor, for "... is not ...". */
static struct word here(const struct cursor *c)
{
	static const char stop[] = ",:{}() \t\n\r\f";
	size_t n = 0, left = (size_t)(c->end - c->p);

	if (!left)
		return (struct word){ "the end" };
	while (n < left && !memchr(stop, c->p[n], sizeof(stop) - 1))
		n++;
	return word_of(c->p, n ? n : 1);
}

/* What Python skips between the tokens of a bracketed expression. */
static void skip_space(struct cursor *c)
{
	while (c->p < c->end && memchr(" \t\n\r\f", *c->p, 5))
		c->p++;
}

static bool take(struct cursor *c, char token)
{
	skip_space(c);
	if (c->p == c->end || *c->p != (unsigned char)token)
		return false;
	c->p++;
	return true;
}

/* A string of one line without escapes: no dtype and no key needs them. */
static bool take_string(struct cursor *c, const char **text, size_t *len)
{
	const unsigned char *start, *p;

	skip_space(c);
	if (c->p == c->end || (*c->p != '\'' && *c->p != '"'))
		return false;
	start = p = c->p + 1;
	while (p < c->end && *p != *c->p && *p != '\\' && *p != '\n')
		p++;
	if (p == c->end || *p != *c->p)
		return false;
	*text = (const char *)start;
	*len = (size_t)(p - start);
	c->p = p + 1;
	return true;
}

static bool take_word(struct cursor *c, const char *word)
{
	size_t len = strlen(word);

	skip_space(c);
	if ((size_t)(c->end - c->p) < len || memcmp(c->p, word, len))
		return false;
	c->p += len;
	return true;
}

static bool digit(const struct cursor *c)
{
	return c->p < c->end && *c->p >= '0' && *c->p <= '9';
}

static int parse_descr(struct cursor *c)
{
	struct word seen;
	const char *text;
	size_t len, kind;
	int rc;

	skip_space(c);
	if (c->p < c->end && (*c->p == '[' || *c->p == '('))
		return zr_fail(c->err, -ENOTSUP, NULL,
			       "descr is a structured dtype, which cannot be "
			       "stored: one container holds one plain type");
	seen = here(c);
	if (!take_string(c, &text, &len))
		return zr_fail(c->err, -EUCLEAN, NULL,
			       "descr is not a string: %s", seen.text);
	rc = zr_dtype_parse(&c->npy->dtype, text, len);
	if (!rc)
		return 0;
	seen = word_of((const unsigned char *)text, len);
	if (rc != -ENOTSUP)
		return zr_fail(c->err, -EUCLEAN, NULL,
			       "descr '%s' is not a dtype", seen.text);
	kind = strchr("<>|=", seen.text[0]) ? 1 : 0;
	if (seen.text[kind] == 'O')
		return zr_fail(c->err, -ENOTSUP, NULL,
			       "descr '%s' means Python objects, which cannot "
			       "be stored",
			       seen.text);
	if (memchr(text, ',', len) || text[0] == '[')
		return zr_fail(c->err, -ENOTSUP, NULL,
			       "descr '%s' is a structured dtype, which cannot "
			       "be stored",
			       seen.text);
	return zr_fail(c->err, -ENOTSUP, NULL,
		       "descr '%s' has no bytes and cannot be stored",
		       seen.text);
}

static int parse_order(struct cursor *c)
{
	struct word seen;

	skip_space(c);
	seen = here(c);
	if (take_word(c, "True"))
		c->npy->fortran_order = true;
	else if (take_word(c, "False"))
		c->npy->fortran_order = false;
	else
		return zr_fail(c->err, -EUCLEAN, NULL,
			       "fortran_order is neither True nor False: %s",
			       seen.text);
	return 0;
}

/* A plain decimal up to 2^63-1: no sign, suffix, separator, leading zero. */
static int parse_dim(struct cursor *c)
{
	struct zr_shape *shape = &c->npy->shape;
	struct word seen;
	uint64_t v = 0;
	size_t digits = 0;

	skip_space(c);
	seen = here(c);
	if (shape->rank == ZR_RANK_MAX)
		return zr_fail(c->err, -EUCLEAN, NULL,
			       "shape has more than %d dimensions",
			       ZR_RANK_MAX);
	for (; digit(c) && digits < 19; digits++)
		v = v * 10 + (uint64_t)(*c->p++ - '0');
	if (!digits || digit(c) || v > INT64_MAX)
		return zr_fail(c->err, -EUCLEAN, NULL,
			       "a dimension is not a number in 0..2^63-1: %s",
			       seen.text);
	if (digits > 1 && seen.text[0] == '0')
		return zr_fail(c->err, -EUCLEAN, NULL,
			       "a dimension has a leading zero: %s", seen.text);
	shape->dims[shape->rank++] = v;
	return 0;
}

static int parse_shape(struct cursor *c)
{
	struct word seen;
	bool comma = false;
	int rc;

	skip_space(c);
	seen = here(c);
	c->npy->shape.rank = 0;
	if (!take(c, '('))
		return zr_fail(c->err, -EUCLEAN, NULL,
			       "shape is not a tuple: %s", seen.text);
	while (!take(c, ')')) {
		if (c->npy->shape.rank && !comma) {
			skip_space(c);
			return zr_fail(c->err, -EUCLEAN, NULL,
				       "shape: a comma or ')' is missing "
				       "before: %s",
				       here(c).text);
		}
		rc = parse_dim(c);
		if (rc)
			return rc;
		comma = take(c, ',');
	}
	if (c->npy->shape.rank == 1 && !comma)
		return zr_fail(c->err, -EUCLEAN, NULL,
			       "shape is a number in parentheses, not a "
			       "tuple: its comma is missing");
	return 0;
}

static const struct {
	const char *name;
	int (*parse)(struct cursor *c);
} keys[] = {
	{ "descr", parse_descr },
	{ "fortran_order", parse_order },
	{ "shape", parse_shape },
};
#define KEYS (sizeof(keys) / sizeof(keys[0]))

/* One "key: value"; sets its bit in *seen. */
static int parse_entry(struct cursor *c, unsigned *seen)
{
	struct word at;
	const char *text;
	size_t len, k = 0;

	skip_space(c);
	at = here(c);
	if (!take_string(c, &text, &len))
		return zr_fail(c->err, -EUCLEAN, NULL,
			       "a key is not a string: %s", at.text);
	while (k < KEYS &&
	       (strlen(keys[k].name) != len || memcmp(keys[k].name, text, len)))
		k++;
	if (k == KEYS)
		return zr_fail(c->err, -EUCLEAN, NULL,
			       "a key that does not belong there: %s", at.text);
	if (*seen & 1u << k)
		return zr_fail(c->err, -EUCLEAN, NULL,
			       "the key %s is there twice", keys[k].name);
	*seen |= 1u << k;
	if (!take(c, ':'))
		return zr_fail(c->err, -EUCLEAN, NULL,
			       "no ':' after the key %s", keys[k].name);
	return keys[k].parse(c);
}

static int parse_dict(struct cursor *c)
{
	unsigned seen = 0;
	bool comma = true;
	int rc;

	if (!take(c, '{'))
		return zr_fail(c->err, -EUCLEAN, NULL,
			       "the header does not begin with '{': %s",
			       here(c).text);
	while (!take(c, '}')) {
		if (!comma) {
			skip_space(c);
			return zr_fail(c->err, -EUCLEAN, NULL,
				       "a comma or '}' is missing before: %s",
				       here(c).text);
		}
		rc = parse_entry(c, &seen);
		if (rc)
			return rc;
		comma = take(c, ',');
	}
	for (size_t k = 0; k < KEYS; k++)
		if (!(seen & 1u << k))
			return zr_fail(c->err, -EUCLEAN, NULL,
				       "the key %s is missing", keys[k].name);
	skip_space(c);
	if (c->p != c->end)
		return zr_fail(c->err, -EUCLEAN, NULL,
			       "text after the end of the header: %s",
			       here(c).text);
	return 0;
}

/* Find the text between the prefix and the data. */
static int find_text(const unsigned char *p, size_t len, struct cursor *c)
{
	size_t bytes;
	int rc = -EUCLEAN;

	if (len < 12)
		return zr_fail(c->err, rc, NULL,
			       "%zu bytes are too few for a .npy file", len);
	rc = zr_npy_header_bytes(p, &bytes);
	if (rc == -EUCLEAN)
		return zr_fail(c->err, rc, NULL, "not a .npy file");
	if (rc && (p[6] < 1 || p[6] > 3 || p[7]))
		return zr_fail(c->err, rc, NULL,
			       ".npy version %u.%u is not known", p[6], p[7]);
	if (rc)
		return zr_fail(c->err, rc, NULL, "a header over 1 MiB");
	if (bytes > len)
		return zr_fail_at(
			c->err, -EUCLEAN, NULL,
			(struct zr_facts){ ZR_NONE, ZR_NONE, bytes, len },
			"the header has %zu bytes, of which %zu are there",
			bytes, len);
	c->npy->header_bytes = bytes;
	c->p = p + (p[6] == 1 ? 10 : 12);
	c->end = p + bytes;
	return 0;
}

int zr_npy_parse(const void *buf, size_t len, struct zr_npy *out,
		 struct zr_error *err)
{
	struct zr_npy npy;
	struct cursor c = { .npy = &npy, .err = err };
	int rc;

	memset(&npy, 0, sizeof(npy));
	rc = find_text(buf, len, &c);
	if (!rc)
		rc = parse_dict(&c);
	if (rc)
		return rc;
	if (zr_shape_size(&npy.dtype, &npy.shape, NULL, &npy.data_bytes))
		return zr_fail(err, -EUCLEAN, NULL,
			       "the shape has more than 2^63-1 bytes");
	*out = npy;
	return 0;
}
