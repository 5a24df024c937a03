/* SPDX-License-Identifier: BSD-2-Clause
 * Records to data.zr and their entries to the table, in windows: one thread
 * writes, in order, while the others make the stored bytes of the next window
 * and hashes, so the bytes of a container do not depend on the threads. */
#include "write.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/io.h"
#include "base/le.h"
#include "window.h"

#define IOVECS 1024

static int meta_failed(struct zr_writer *w, int rc, struct zr_error *err)
{
	return zr_fail_sys(err, -rc, w->build.path,
			   "writing meta.zr and check.zr");
}

int zr_flush_entries(struct zr_writer *w, struct zr_error *err)
{
	size_t count = (size_t)(w->meta.length - w->flushed);
	uint64_t at = ZR_META_TABLE + w->flushed * ZR_ENTRY_BYTES;
	int rc = zr_pwrite(w->build.meta_fd, w->entries, count * ZR_ENTRY_BYTES,
			   at);

	if (!rc && w->sums.fd >= 0)
		rc = zr_sums_write_rows(&w->sums, w->rows, w->flushed, count);
	if (rc)
		return meta_failed(w, rc, err);
	w->flushed = w->meta.length;
	return 0;
}

/* The row of check.zr for the entry at `entry`. */
static int add_row(struct zr_writer *w, const struct zr_append *a, size_t i,
		   const unsigned char *entry, uint64_t stored_hash)
{
	size_t at = (size_t)(w->meta.length - w->flushed) * w->sums.row;
	uint64_t first;
	int rc;

	zr_put_le64(w->rows + at, zr_record_hash(entry, stored_hash));
	if (w->meta.kind == ZR_DENSE)
		return 0;
	first = a->batch->dim_offsets[i];
	rc = zr_sums_add_dims(&w->sums, a->batch->dims + first,
			      (size_t)(a->batch->dim_offsets[i + 1] - first));
	zr_put_le64(w->rows + at + 8, w->sums.dims);
	return rc;
}

static int add_entry(struct zr_writer *w, const struct zr_append *a, size_t i,
		     uint32_t stored, uint32_t logic, uint64_t stored_hash,
		     struct zr_error *err)
{
	unsigned char *p;
	int rc = 0;

	if (w->meta.length - w->flushed == ZR_ENTRIES)
		rc = zr_flush_entries(w, err);
	if (rc)
		return rc;
	p = w->entries + (w->meta.length - w->flushed) * ZR_ENTRY_BYTES;
	zr_put_le64(p, w->meta.tail_offset);
	zr_put_le32(p + 8, stored);
	zr_put_le32(p + 12, logic);
	if (w->sums.fd >= 0)
		rc = add_row(w, a, i, p, stored_hash);
	if (rc)
		return meta_failed(w, rc, err);
	w->meta.length++;
	w->meta.tail_offset += stored;
	return 0;
}

/* What happens at the same time; each may be NULL. A window that is in place is
 * written while it is prepared, any other in the step after that. */
struct step {
	struct zr_window *before, *next;
	bool late; /* `before` is not written yet */
	int write_rc, enter_rc;
	struct zr_error *enter_err;
};

/* Longer by `len` bytes at p: in the last one, if they lie behind it. */
static size_t add_iovec(struct iovec *iov, size_t n, const unsigned char *p,
			size_t len)
{
	const unsigned char *end = NULL;

	if (n)
		end = (unsigned char *)iov[n - 1].iov_base + iov[n - 1].iov_len;
	if (end == p) {
		iov[n - 1].iov_len += len;
		return n;
	}
	memcpy(&iov[n].iov_base, &p, sizeof(void *));
	iov[n].iov_len = len;
	return n + 1;
}

/* Records from *i on to *at on, up to where the iovecs end; advances both. */
static int write_records(struct zr_window *win, size_t *i, uint64_t *at)
{
	struct iovec iov[IOVECS];
	uint64_t from = *at;
	size_t n = 0;

	for (; *i < win->count && n + 2 <= IOVECS; (*i)++) {
		const struct zr_slot *s = &win->slot[*i];

		if (s->head)
			n = add_iovec(iov, n, win->mem->out.p + s->place,
				      s->head);
		n = add_iovec(iov, n, s->stored, s->len);
		*at += s->head + s->len;
	}
	return zr_pwritev(win->w->build.data_fd, iov, n, from);
}

static int write_window(struct zr_window *win)
{
	uint64_t at = win->at;
	int rc = 0;

	for (size_t i = 0; i < win->count && !rc;)
		rc = write_records(win, &i, &at);
	win->written = true;
	return rc;
}

static int add_entries(struct zr_window *win, struct zr_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < win->count && !rc; i++) {
		const struct zr_slot *s = &win->slot[i];

		rc = add_entry(win->w, win->a, win->first + i,
			       (uint32_t)(s->head + s->len), s->logic, s->hash,
			       err);
	}
	return rc;
}

/* Entries come after the bytes they speak of: a build that dies has none that
 * recovery must refuse. */
static void write_and_enter(struct step *s)
{
	if (s->late) {
		s->write_rc = write_window(s->before);
		if (!s->write_rc)
			s->enter_rc = add_entries(s->before, s->enter_err);
	}
	if (!s->write_rc && s->next && s->next->in_place)
		s->write_rc = write_window(s->next);
}

static void step_task(void *ctx, unsigned lane, size_t task)
{
	struct step *s = ctx;

	if (task >= 2)
		zr_window_prepare(s->next, lane, task - 2);
	else if (task == 0)
		write_and_enter(s);
	else if (s->before && !s->late)
		s->enter_rc = add_entries(s->before, s->enter_err);
}

/* Prepare `next` and end `before`, which the last step prepared. */
static int do_step(struct zr_writer *w, struct zr_window *next,
		   struct zr_window *before, struct zr_error *err)
{
	struct step step = { before, next, before && !before->written, 0, 0,
			     err };

	if (step.late)
		before->at = w->meta.tail_offset;
	if (next && next->in_place)
		next->at = before ? before->at + before->bytes
				  : w->meta.tail_offset;
	zr_executor_run(w->ex, 2 + (next ? next->tasks : 0), step_task, &step);
	if (step.write_rc)
		return zr_fail_sys(err, -step.write_rc, w->build.path,
				   "writing data.zr");
	if (step.enter_rc)
		return step.enter_rc;
	if (next && next->rc)
		return zr_fail(err, next->rc, w->build.path,
			       "no memory to encode");
	return 0;
}

int zr_write(struct zr_writer *w, const struct zr_append *a,
	     struct zr_error *err)
{
	struct zr_window win[2] = {
		{ .w = w, .a = a, .mem = &w->window[0] },
		{ .w = w, .a = a, .mem = &w->window[1] },
	};
	struct zr_window *before = NULL;
	size_t first = 0;
	int rc = 0;

	for (size_t k = 0; first < a->count && !rc; k++) {
		struct zr_window *next = &win[k % 2];

		next->first = first;
		if (zr_window_plan(next))
			return zr_fail(err, -ENOMEM, w->build.path,
				       "no memory for records to encode");
		first += next->count;
		rc = do_step(w, next, before, err);
		before = next;
	}
	return rc || !before ? rc : do_step(w, NULL, before, err);
}
