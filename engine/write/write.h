/* SPDX-License-Identifier: BSD-2-Clause
 * The room write: records into a new container, which appears whole or not at
 * all.
 *
 * The way of records through a writer: encoded, written, and then their
 * entries. */
#ifndef ZR_WRITE_H
#define ZR_WRITE_H

#include "state.h"

/* Write the records of an append behind the tail and add their entries. With
 * the lock held. On failure the caller rolls back. */
int zr_write(struct zr_writer *w, const struct zr_append *a,
	     struct zr_error *err);

/* Write the kept entries to the table. */
int zr_flush_entries(struct zr_writer *w, struct zr_error *err);

#endif
