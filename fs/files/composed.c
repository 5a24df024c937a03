/* SPDX-License-Identifier: BSD-2-Clause
 * Files that are made of several records, whatever their kind. */
#include "composed.h"

#include <errno.h>

#include "files.h"
#include "worker.h"

int composed_read(struct mount *m, struct worker *w, struct stream *s,
		  const struct node *n, uint64_t total, uint64_t off,
		  size_t size, const void **data, size_t *len, struct zr_error *err)
{
	struct span span = { off, size };
	unsigned char *buf;
	struct ids ids;
	int rc;

	*len = 0;
	if (off >= total)
		return 0;
	if (span.len > total - off)
		span.len = (size_t)(total - off);
	buf = worker_reply(w, span.len);
	if (!buf)
		return -ENOMEM;
	rc = ids_hold(m, n, &ids);
	if (rc)
		return rc;
	if (s->dense)
		rc = rows_read(m, w, s, &ids, &span, buf, err);
	else
		rc = npz_read(m, w, s, n, &ids, &span, buf, err);
	ids_put(m, n);
	*data = buf;
	*len = span.len;
	return rc;
}
