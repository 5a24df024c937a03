/* SPDX-License-Identifier: BSD-2-Clause
 * Finding out what the SRC of a command are. */
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/each.h"
#include "npz.h"

static bool same_shape(const struct zr_shape *a, const struct zr_shape *b)
{
	return a->rank == b->rank &&
	       !memcmp(a->dims, b->dims, 8 * (size_t)a->rank);
}

static size_t inputs(const struct source *s)
{
	return s->npz ? npz_count(s->npz) : s->files.count;
}

static int open_input(struct source *s, size_t i)
{
	if (s->npz)
		return input_open_member(&s->in, s->npz, i);
	return input_open(&s->in, s->files.path[i]);
}

/* Empty records cannot be stored; say which file has them. */
static int check_item(const struct source *s, const struct zr_shape *item)
{
	for (uint32_t d = 0; d < item->rank; d++)
		if (!item->dims[d])
			return cli_fail("%s: its records have no elements, "
					"and an empty record cannot be stored",
					s->in.name);
	return CLI_OK;
}

/* What array `in` adds: records along axis 0, or one. */
static int look_at_array(struct source *s, size_t i)
{
	const struct zr_npy *npy = &s->in.npy;
	struct zr_shape item = npy->shape;

	if (s->from == SOURCE_AXIS0) {
		if (!npy->shape.rank)
			return cli_fail("%s: a 0-d array has no axis of "
					"records",
					s->in.name);
		item.rank--;
		memmove(item.dims, npy->shape.dims + 1, 8 * (size_t)item.rank);
		s->records += npy->shape.dims[0];
	} else {
		s->records++;
	}
	if (check_item(s, &item))
		return CLI_FAILED;
	if (i == 0) {
		s->dtype = npy->dtype;
		s->item_shape = item;
	}
	if (strcmp(s->dtype.str, npy->dtype.str))
		return cli_fail("%s: dtype %s, but those before have %s",
				s->in.name, npy->dtype.str, s->dtype.str);
	if (!same_shape(&s->item_shape, &item)) {
		if (s->from == SOURCE_AXIS0)
			return cli_fail("%s: its records have another shape "
					"than those before",
					s->in.name);
		s->uniform = false;
	}
	return CLI_OK;
}

static int look_at_arrays(struct source *s, bool ragged)
{
	int status = CLI_OK;
	struct stat st;

	s->uniform = true;
	for (size_t i = 0; i < inputs(s) && !status; i++) {
		/* Opening a pipe could wait for ever. */
		if (s->rewinds && !s->npz && !stat(s->files.path[i], &st) &&
		    !S_ISREG(st.st_mode))
			return cli_fail("%s: %s", s->files.path[i],
					S_ISDIR(st.st_mode)
						? "a directory, not a .npy file"
						: "not a regular file; a pipe "
						  "must be the only source");
		status = open_input(s, i);
		if (status)
			break;
		status = look_at_array(s, i);
		/* Standard input is read once: go on with it as it is. */
		if (!s->rewinds && !status) {
			s->open = true;
			s->at = 1;
			s->left = s->in.npy.shape.dims[0];
			break;
		}
		input_close(&s->in);
	}
	s->kind = ragged || !s->uniform ? ZR_RAGGED : ZR_DENSE;
	return status;
}

static int look_at_container(struct source *s, const char *path, bool ragged)
{
	const struct zr_info *info;

	s->from = SOURCE_CONTAINER;
	s->c = cli_open(path, 0);
	if (!s->c)
		return CLI_FAILED;
	if (zr_reader_new(&s->r, s->c, NULL))
		return cli_fail("no memory");
	info = zr_info(s->c);
	s->dtype = info->dtype;
	s->item_shape = info->item_shape;
	s->uniform = info->kind == ZR_DENSE;
	s->kind = ragged ? ZR_RAGGED : info->kind;
	s->records = info->records;
	return CLI_OK;
}

/* What is no container is a folder of .npy. */
static int look_at_dir(struct source *s, const char *path, bool ragged)
{
	if (paths_may_be_container(path))
		return look_at_container(s, path, ragged);
	s->from = SOURCE_WHOLE;
	return paths_add_folder(&s->files, path) ? CLI_FAILED
						 : look_at_arrays(s, ragged);
}

static int look_at_npz(struct source *s, const char *path, bool ragged)
{
	if (npz_open(&s->npz, path))
		return CLI_FAILED;
	if (!npz_count(s->npz))
		return cli_fail("%s: has no .npy members", path);
	s->from = npz_count(s->npz) == 1 ? SOURCE_AXIS0 : SOURCE_WHOLE;
	return look_at_arrays(s, ragged);
}

static int look_at_lines(struct source *s, const char *path, bool skip_empty)
{
	s->from = SOURCE_LINES;
	s->kind = ZR_RAGGED;
	zr_dtype_parse(&s->dtype, "|u1", 3);
	return lines_open(&s->lines, path, skip_empty, &s->records);
}

static int look(struct source *s, char **paths, size_t count, bool ragged)
{
	struct stat st;

	if (count == 1 && !strcmp(paths[0], "-")) {
		s->rewinds = false;
	} else if (count == 1) {
		if (stat(paths[0], &st))
			return cli_fail("%s: %s", paths[0], strerror(errno));
		if (S_ISDIR(st.st_mode))
			return look_at_dir(s, paths[0], ragged);
		if (paths_has_extension(paths[0], ".npz"))
			return look_at_npz(s, paths[0], ragged);
		/* A pipe with a name is read once, as standard input is. */
		s->rewinds = S_ISREG(st.st_mode);
	}
	s->from = SOURCE_AXIS0;
	for (size_t i = 0; i < count; i++) {
		if (count > 1 &&
		    (!strcmp(paths[i], "-") ||
		     paths_has_extension(paths[i], ".npz") ||
		     (!stat(paths[i], &st) && S_ISDIR(st.st_mode))))
			return cli_fail("%s: of several sources each must be "
					"a .npy file",
					paths[i]);
		if (paths_add(&s->files, paths[i]))
			return CLI_FAILED;
	}
	return look_at_arrays(s, ragged);
}

int source_open(struct source *s, char **paths, size_t count, bool ragged,
		bool lines, bool skip_empty)
{
	int status;

	memset(s, 0, sizeof(*s));
	s->in.fd = s->in.spool = -1;
	s->rewinds = true;
	status = lines ? look_at_lines(s, paths[0], skip_empty)
		       : look(s, paths, count, ragged);
	if (status)
		source_close(s);
	return status;
}

int source_select(struct source *s, const struct command *cmd, const char *path,
		  const char *selection)
{
	int status = each_parse(cmd, s->c, path, selection, &s->sel);

	if (status)
		return status;
	s->selected = true;
	s->records = s->sel.count;
	return CLI_OK;
}

void source_close(struct source *s)
{
	zr_selection_free(&s->sel);
	input_close(&s->in);
	npz_close(s->npz);
	zr_reader_free(s->r);
	zr_close(s->c);
	lines_close(&s->lines);
	paths_free(&s->files);
	memset(s, 0, sizeof(*s));
	s->in.fd = s->in.spool = -1;
}

int source_rewind(struct source *s)
{
	if (s->open)
		input_close(&s->in);
	s->open = false;
	s->at = 0;
	s->left = 0;
	s->next_id = 0;
	return s->lines.f ? lines_rewind(&s->lines) : CLI_OK;
}
