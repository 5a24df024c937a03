/* SPDX-License-Identifier: BSD-2-Clause
 * Building a container: create, append, publish, discard. */
#include "write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/io.h"

static void writer_free(struct zr_writer *w, bool remove)
{
	for (unsigned i = 0; i < w->lanes; i++) {
		if (w->encoder)
			zr_encoder_free(w->encoder[i]);
		if (w->source)
			free(w->source[i].p);
	}
	free(w->encoder);
	free(w->source);
	zr_encode_dict_free(w->dict);
	free(w->entries);
	free(w->rows);
	zr_sums_end(&w->sums);
	for (size_t i = 0; i < 2; i++) {
		free(w->window[i].slots.p);
		free(w->window[i].out.p);
	}
	zr_build_end(&w->build, remove);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

/* Fill in what the container will say of itself. */
static int plan_meta(struct zr_meta *m, enum zr_kind kind,
		     const struct zr_dtype *dtype, const struct zr_shape *shape,
		     enum zr_codec codec, const char *path,
		     struct zr_error *err)
{
	size_t len = strnlen(dtype->str, sizeof(dtype->str));
	int rc = zr_dtype_parse(&m->dtype, dtype->str, len);

	if (kind != ZR_DENSE && kind != ZR_RAGGED)
		return zr_fail(err, -EINVAL, path, "unknown kind");
	if (rc)
		return zr_fail(err, rc, path, "the dtype cannot be stored");
	m->kind = kind;
	m->codec = codec;
	if ((kind == ZR_DENSE) != (shape != NULL))
		return zr_fail(err, -EINVAL, path,
			       "a Dense container has an item shape, a Ragged "
			       "one has none");
	if (kind == ZR_RAGGED)
		return 0;
	if (shape->rank >= ZR_RANK_MAX)
		return zr_fail(err, -EINVAL, path,
			       "a record has %u dimensions, at most 63 can be "
			       "stored",
			       shape->rank);
	m->item_shape = *shape;
	if (zr_dense_width(&m->dtype, shape, &m->record_bytes))
		return zr_fail(err, -EINVAL, path,
			       "the bytes of a record are not in 1..2^31");
	return 0;
}

static int plan_codec(struct zr_writer *w, const struct zr_create_options *opt,
		      const char *path, struct zr_error *err)
{
	bool has_dict = opt->dict && opt->dict_bytes;
	int rc;

	if ((unsigned)opt->codec > ZR_ZSTD_DICT ||
	    opt->dict_bytes > ZR_DICT_MAX)
		return zr_fail(err, -EINVAL, path,
			       "unknown codec, or a dictionary over 2^31 "
			       "bytes");
	if (!zr_codec_level_ok(opt->codec, opt->level))
		return zr_fail(err, -EINVAL, path, "the codec has no level %d",
			       opt->level);
	if ((opt->codec == ZR_ZSTD_DICT) != has_dict)
		return zr_fail(err, -EINVAL, path,
			       has_dict ? "a dictionary needs codec zstd_dict"
					: "codec zstd_dict needs a dictionary");
	w->level = zr_codec_level(opt->codec, opt->level, opt->dict_bytes);
	if (!has_dict)
		return 0;
	rc = zr_encode_dict_new(&w->dict, opt->dict, opt->dict_bytes, w->level);
	if (rc == -ENOMEM)
		return zr_fail(err, rc, path, "no memory");
	if (rc)
		return zr_fail(err, rc, path,
			       "the dictionary is not a usable zstd "
			       "dictionary");
	return 0;
}

static int make_scratch(struct zr_writer *w, const char *path,
			struct zr_error *err)
{
	w->lanes = zr_executor_threads(w->ex);
	w->encoder = calloc(w->lanes, sizeof(struct zr_encoder *));
	w->source = calloc(w->lanes, sizeof(*w->source));
	w->entries = malloc((size_t)ZR_ENTRIES * ZR_ENTRY_BYTES);
	w->rows = malloc((size_t)ZR_ENTRIES * 16);
	if (!w->encoder || !w->source || !w->entries || !w->rows)
		return zr_fail(err, -ENOMEM, path, "no memory");
	return 0;
}

/* Until zr_publish the header says 0 records (F8). */
static int write_header(struct zr_writer *w, uint64_t length, uint64_t tail,
			unsigned char head[ZR_META_TABLE], struct zr_error *err)
{
	struct zr_meta m = w->meta;
	int rc;

	m.length = length;
	m.tail_offset = tail;
	rc = zr_meta_encode(&m, head);
	if (rc)
		return zr_fail(err, rc, w->build.path,
			       "no memory for the schema");
	rc = zr_pwrite(w->build.meta_fd, head, ZR_META_TABLE, 0);
	if (rc)
		return zr_fail_sys(err, -rc, w->build.path, "writing meta.zr");
	return 0;
}

static int write_dict(struct zr_writer *w, const struct zr_create_options *opt,
		      struct zr_error *err)
{
	int fd = openat(w->build.dir, "dict.zr",
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0666);
	int rc;

	if (fd < 0)
		return zr_fail_sys(err, errno, w->build.path, "making dict.zr");
	rc = zr_pwrite(fd, opt->dict, opt->dict_bytes, 0);
	if (!rc)
		rc = zr_sync(fd);
	close(fd);
	if (rc)
		return zr_fail_sys(err, -rc, w->build.path, "writing dict.zr");
	return 0;
}

static int start_sums(struct zr_writer *w, const struct zr_create_options *opt,
		      struct zr_error *err)
{
	int rc = zr_sums_start(&w->sums, w->build.dir, w->meta.kind);

	if (rc)
		return zr_fail_sys(err, -rc, w->build.path, "making check.zr");
	if (w->dict)
		w->sums.dict_hash = zr_hash(opt->dict, opt->dict_bytes);
	return 0;
}

int zr_create(struct zr_writer **out, const char *path, enum zr_kind kind,
	      const struct zr_dtype *dtype, const struct zr_shape *item_shape,
	      const struct zr_create_options *opt, struct zr_error *err)
{
	static const struct zr_create_options none = ZR_CREATE_OPTIONS_INIT;
	unsigned char head[ZR_META_TABLE];
	struct zr_writer *w;
	int rc;

	*out = NULL;
	if (!opt)
		opt = &none;
	if (!path || opt->size != sizeof(*opt))
		return zr_fail(err, -EINVAL, NULL,
			       "no path, or options of another version");
	w = calloc(1, sizeof(*w));
	if (!w)
		return zr_fail(err, -ENOMEM, path, "no memory");
	pthread_mutex_init(&w->lock, NULL);
	w->build.parent = w->build.dir = -1;
	w->build.meta_fd = w->build.data_fd = -1;
	w->sums.fd = w->sums.dims_fd = -1;
	w->pid = getpid();
	w->ex = opt->executor;
	rc = plan_meta(&w->meta, kind, dtype, item_shape, opt->codec, path,
		       err);
	if (!rc)
		rc = plan_codec(w, opt, path, err);
	if (!rc)
		rc = make_scratch(w, path, err);
	if (!rc)
		rc = zr_build_start(&w->build, path, err);
	if (!rc)
		rc = write_header(w, 0, 0, head, err);
	if (!rc && w->dict)
		rc = write_dict(w, opt, err);
	if (!rc && !opt->no_checksums)
		rc = start_sums(w, opt, err);
	if (rc) {
		writer_free(w, true);
		return rc;
	}
	*out = w;
	return 0;
}

/* Go back to before an append that failed: nothing of it counts. */
static void roll_back(struct zr_writer *w, uint64_t length, uint64_t tail,
		      uint64_t dims)
{
	w->sums.dims = dims;
	w->meta.length = length;
	w->meta.tail_offset = tail;
	if (w->flushed > length) {
		w->flushed = length;
		/* Else a build that dies later would be recovered with them. */
		(void)!ftruncate(
			w->build.meta_fd,
			(off_t)(ZR_META_TABLE + length * ZR_ENTRY_BYTES));
	}
}

static int append(struct zr_writer *w, const struct zr_append *a,
		  struct zr_error *err)
{
	uint64_t length, tail, dims;
	struct zr_error local;
	int rc;

	if (w->pid != getpid())
		return zr_fail(err, -EINVAL, w->build.path,
			       "a writer works only in the process that made "
			       "it");
	pthread_mutex_lock(&w->lock);
	length = w->meta.length;
	tail = w->meta.tail_offset;
	dims = w->sums.dims;
	rc = w->failed;
	if (rc) {
		local = w->error;
	} else {
		rc = zr_write(w, a, &local);
		if (rc)
			roll_back(w, length, tail, dims);
		if (rc && rc != -ENOMEM) {
			w->failed = rc;
			w->error = local;
		}
	}
	pthread_mutex_unlock(&w->lock);
	if (rc && err)
		*err = local;
	return rc;
}

int zr_append_dense(struct zr_writer *w, const void *items, size_t count,
		    struct zr_error *err)
{
	struct zr_append a = { .items = items,
			       .count = count,
			       .width = w->meta.record_bytes };
	uint64_t bytes;

	if (w->meta.kind != ZR_DENSE)
		return zr_fail(err, -EINVAL, w->build.path,
			       "is Ragged: append with zr_append_ragged");
	if (!zr_mul(count, a.width, &bytes) || !zr_fits_size(bytes))
		return zr_fail(err, -EINVAL, w->build.path,
			       "%zu records are more bytes than memory has",
			       count);
	return append(w, &a, err);
}

/* Returns NULL if record i of a batch can be stored, else why not. */
static const char *unstorable(const struct zr_dtype *dtype,
			      const struct zr_ragged *b, size_t i)
{
	uint64_t first = b->dim_offsets[i],
		 rank = b->dim_offsets[i + 1] - first;
	uint64_t bytes = dtype->itemsize,
		 span = b->offsets[i + 1] - b->offsets[i];

	if (b->dim_offsets[i + 1] < first || b->offsets[i + 1] < b->offsets[i])
		return "its offsets go down";
	if (rank > ZR_RANK_MAX)
		return "it has more than 64 dimensions";
	for (uint64_t d = 0; d < rank; d++)
		if (!zr_mul(bytes, b->dims[first + d], &bytes))
			return "its bytes are not those of its shape";
	if (bytes != span)
		return "its bytes are not those of its shape";
	if (!bytes)
		return "it has no elements, and an empty record cannot be "
		       "stored";
	if (bytes > ZR_RECORD_MAX - 1 - 8 * rank)
		return "it is larger than 2^31 bytes with its shape";
	return NULL;
}

int zr_append_ragged(struct zr_writer *w, const struct zr_ragged *batch,
		     struct zr_error *err)
{
	struct zr_append a = { .batch = batch, .count = batch->count };

	if (w->meta.kind != ZR_RAGGED)
		return zr_fail(err, -EINVAL, w->build.path,
			       "is Dense: append with zr_append_dense");
	for (size_t i = 0; i < a.count; i++) {
		const char *why = unstorable(&w->meta.dtype, batch, i);

		if (why)
			return zr_fail_at(err, -EINVAL, w->build.path,
					  (struct zr_facts){ i, ZR_NONE,
							     ZR_NONE, ZR_NONE },
					  "record %zu of the batch: %s", i,
					  why);
	}
	return append(w, &a, err);
}

/* Cut what failed appends left, and write the header, which makes the
 * records count: after all else, so that whoever finds the files of a process
 * that died sees a dead build or a whole container. */
static int finish_files(struct zr_writer *w, struct zr_error *err)
{
	unsigned char head[ZR_META_TABLE];
	const struct zr_meta *m = &w->meta;
	off_t meta_end = (off_t)(ZR_META_TABLE + m->length * ZR_ENTRY_BYTES);
	int rc = zr_flush_entries(w, err);

	if (rc)
		return rc;
	if (ftruncate(w->build.meta_fd, meta_end) ||
	    ftruncate(w->build.data_fd, (off_t)m->tail_offset))
		return zr_fail_sys(err, errno, w->build.path,
				   "cutting its files to what was written");
	if (w->sums.fd >= 0) {
		rc = zr_meta_encode(m, head);
		if (!rc)
			rc = zr_sums_finish(&w->sums, m->length, m->tail_offset,
					    head);
	}
	if (rc)
		return zr_fail_sys(err, -rc, w->build.path, "writing check.zr");
	return write_header(w, m->length, m->tail_offset, head, err);
}

int zr_publish(struct zr_writer *w, struct zr_error *err)
{
	int rc;

	if (w->pid != getpid()) {
		rc = zr_fail(err, -EINVAL, w->build.path,
			     "a writer works only in the process that made it");
		writer_free(w, false);
		return rc;
	}
	rc = w->failed;
	if (rc && err)
		*err = w->error;
	if (!rc)
		rc = finish_files(w, err);
	if (!rc)
		rc = zr_build_commit(&w->build, err);
	writer_free(w, true);
	return rc;
}

const char *zr_writer_path(const struct zr_writer *w)
{
	return w->build.temp_path;
}

void zr_discard(struct zr_writer *w)
{
	if (w)
		writer_free(w, w->pid == getpid());
}
