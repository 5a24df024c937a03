/* SPDX-License-Identifier: BSD-2-Clause
 * The description of a container as JSON, for `zrecord info` and info.json. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "container.h"

struct text {
	char *buf;
	size_t size, len;
};

/* Append, counting what does not fit. */
__attribute__((format(printf, 2, 3))) static void add(struct text *t,
						      const char *fmt, ...)
{
	size_t at = t->len < t->size ? t->len : t->size;
	va_list ap;

	va_start(ap, fmt);
	t->len += (size_t)vsnprintf(t->buf ? t->buf + at : NULL, t->size - at,
				    fmt, ap);
	va_end(ap);
}

int zr_info_json(const struct zr_container *c, char *buf, size_t size,
		 size_t *len)
{
	const struct zr_info *i = &c->info;
	struct text t = { buf, size, 0 };

	add(&t, "{\"kind\": \"%s\", \"dtype\": \"%s\", ",
	    i->kind == ZR_DENSE ? "dense" : "ragged", i->dtype.str);
	if (i->kind == ZR_DENSE) {
		add(&t, "\"item_shape\": [");
		for (uint32_t d = 0; d < i->item_shape.rank; d++)
			add(&t, "%s%llu", d ? ", " : "",
			    (unsigned long long)i->item_shape.dims[d]);
		add(&t, "], \"record_bytes\": %llu, ",
		    (unsigned long long)i->record_bytes);
	} else {
		add(&t, "\"item_shape\": null, ");
	}
	add(&t,
	    "\"codec\": \"%s\", \"records\": %llu, \"logical_bytes\": %llu, "
	    "\"stored_bytes\": %llu, \"dict_bytes\": %llu, "
	    "\"published\": %s, \"checksums\": %s}\n",
	    zr_codec_name(i->codec), (unsigned long long)i->records,
	    (unsigned long long)zr_logical_bytes(c),
	    (unsigned long long)i->stored_bytes,
	    (unsigned long long)i->dict_bytes, i->published ? "true" : "false",
	    i->checksums ? "true" : "false");
	*len = t.len;
	return t.len < size ? 0 : -ERANGE;
}
