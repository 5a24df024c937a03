/* SPDX-License-Identifier: BSD-2-Clause
 * zrecord export: records as .npy files, one .npy or one .npz. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/each.h"
#include "common/options.h"
#include "common/output.h"
#include "common/paths.h"
#include "common/progress.h"
#include "common/stop.h"
#include "common/zipfile.h"

struct export
{
	struct output out;
	struct progress bar;
	uint64_t done;
	uint64_t files; /* dir */
	int digits;
	bool to_stdout;     /* not atomic: who reads it sees the end fail */
	FILE *f;            /* npy, npz */
	struct zipfile zip; /* npz */
};

static int write_failed(const struct export *x)
{
	return cli_fail("%s: writing: %s",
			x->to_stdout ? "standard output" : x->out.path,
			strerror(errno));
}

static int step(struct export *x)
{
	progress_at(&x->bar, ++x->done);
	return CLI_OK;
}

static int header_of(const struct zr_info *info, const struct zr_shape *shape,
		     char *header, size_t *len)
{
	if (zr_npy_header(header, ZR_NPY_HEADER_MAX, len, &info->dtype, shape))
		return cli_fail("a shape does not fit into a .npy header");
	return CLI_OK;
}

static int to_dir(void *ctx, const struct zr_info *info, const struct each *rec)
{
	char name[64], header[ZR_NPY_HEADER_MAX];
	struct export *x = ctx;
	size_t len;
	FILE *f;
	int fd;

	if (header_of(info, &rec->shape, header, &len))
		return CLI_FAILED;
	snprintf(name, sizeof(name), "%0*llu.npy", x->digits,
		 (unsigned long long)rec->id);
	fd = openat(x->out.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0666);
	/* An id that the selection repeats is one file. */
	if (fd < 0 && errno == EEXIST)
		return step(x);
	if (fd < 0)
		return write_failed(x);
	f = fdopen(fd, "wb");
	if (!f) {
		close(fd);
		return write_failed(x);
	}
	fwrite(header, 1, len, f);
	fwrite(rec->elements, 1, (size_t)rec->bytes, f);
	if (ferror(f) | fclose(f))
		return write_failed(x);
	x->files++;
	return step(x);
}

static int to_npy(void *ctx, const struct zr_info *info, const struct each *rec)
{
	struct export *x = ctx;
	size_t len = (size_t)rec->bytes;

	(void)info;
	if (fwrite(rec->elements, 1, len, x->f) != len)
		return write_failed(x);
	return step(x);
}

static int to_npz(void *ctx, const struct zr_info *info, const struct each *rec)
{
	char name[64], header[ZR_NPY_HEADER_MAX];
	struct export *x = ctx;
	size_t len;

	if (header_of(info, &rec->shape, header, &len))
		return CLI_FAILED;
	snprintf(name, sizeof(name), "arr_%llu.npy",
		 (unsigned long long)x->zip.members);
	if (!zipfile_add(&x->zip, name, header, len, rec->elements,
			 (size_t)rec->bytes))
		return write_failed(x);
	return step(x);
}

/* The header of all selected records as one array. */
static int start_npy(struct export *x, const struct zr_info *info,
		     uint64_t count)
{
	char header[ZR_NPY_HEADER_MAX];
	struct zr_shape shape = { info->item_shape.rank + 1, { count } };
	size_t len;

	memcpy(shape.dims + 1, info->item_shape.dims,
	       8 * (size_t)info->item_shape.rank);
	if (header_of(info, &shape, header, &len))
		return CLI_FAILED;
	if (fwrite(header, 1, len, x->f) != len)
		return write_failed(x);
	return CLI_OK;
}

static int write_all(struct export *x, const struct zr_container *c,
		     const struct zr_selection *sel, char form)
{
	int status = CLI_OK;

	if (form == 'd')
		return each_record(c, sel, to_dir, x);
	x->f = fdopen(dup(x->to_stdout ? STDOUT_FILENO : x->out.fd), "wb");
	if (!x->f)
		return write_failed(x);
	x->zip.f = x->f;
	if (form == 'n')
		status = start_npy(x, zr_info(c), sel->count);
	if (!status)
		status = each_record(c, sel, form == 'n' ? to_npy : to_npz, x);
	if (!status && form == 'z' && !zipfile_end(&x->zip))
		status = write_failed(x);
	zipfile_free(&x->zip);
	if (fclose(x->f) && !status)
		status = write_failed(x);
	return status;
}

static void tell_made(const struct export *x, char form, const char *dst)
{
	unsigned long long n = form == 'd' ? x->files : x->done;
	const char *s = n == 1 ? "" : "s";

	if (form == 'd')
		cli_note("%s: a directory of %llu .npy file%s", dst, n, s);
	else
		cli_note("%s: one %s of %llu record%s", dst,
			 form == 'n' ? ".npy" : ".npz", n, s);
}

static int export(const struct zr_container *c, const struct zr_selection *sel,
		  char form, const char *dst)
{
	struct export x = { .digits = cli_name_digits(zr_info(c)->records) };
	int status;

	if (form == 'n' && zr_info(c)->kind == ZR_RAGGED)
		return cli_fail("a Ragged container is not one array; use "
				"--as npz or --as dir");
	if (!strcmp(dst, "-")) {
		x.to_stdout = true;
		return write_all(&x, c, sel, form);
	}
	stop_catch();
	status = output_start(&x.out, dst, form == 'd');
	if (status)
		return status;
	progress_start(&x.bar, dst, "records", sel->count);
	status = write_all(&x, c, sel, form);
	progress_end(&x.bar);
	if (status)
		output_discard(&x.out);
	else
		status = output_commit(&x.out);
	if (!status)
		tell_made(&x, form, dst);
	return status;
}

static bool parse_form(const char *name, char *form)
{
	static const char *const names[] = { "dir", "npy", "npz" };

	for (size_t i = 0; i < 3; i++) {
		if (!strcmp(name, names[i])) {
			*form = "dnz"[i];
			return true;
		}
	}
	return false;
}

/* The extension of DST if it is one that files of other kinds have, and not
 * just a dot in the name of a directory. */
static const char *foreign_extension(const char *dst)
{
	static const char *const known[] = {
		".csv",	   ".tsv",     ".txt",	   ".json",	".jsonl",
		".ndjson", ".parquet", ".arrow",   ".feather",	".tfrecord",
		".tar",	   ".tgz",     ".zip",	   ".gz",	".bz2",
		".xz",	   ".zst",     ".h5",	   ".hdf5",	".nc",
		".mat",	   ".pt",      ".pth",	   ".pkl",	".pickle",
		".bin",	   ".msgpack", ".mdb",	   ".db",	".safetensors",
		".png",	   ".jpg",     ".jpeg",	   ".wav",	".xlsx",
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (paths_has_extension(dst, known[i]))
			return known[i];
	return NULL;
}

/* What is asked for, or what the name of DST says. */
static int choose_form(const struct command *cmd, const char *as,
		       const char *dst, char *form)
{
	char named = paths_has_extension(dst, ".npy")	? 'n'
		     : paths_has_extension(dst, ".npz") ? 'z'
							: 0;
	const char *foreign = foreign_extension(dst);

	if (as && !parse_form(as, form))
		return cli_usage(cmd, "--as takes dir, npy or npz, not '%s'",
				 as);
	if (as && named && named != *form)
		return cli_usage(cmd,
				 "'%s' has the name of a %s, and --as %s makes "
				 "none; give DST another name, or leave --as "
				 "out",
				 dst, named == 'n' ? ".npy" : ".npz", as);
	if (!as && foreign)
		return cli_usage(cmd,
				 "'%s': export writes no %s, but a .npy, a "
				 ".npz or a directory of .npy; --as npy, npz "
				 "or dir makes it of any name; 'zrecord cat "
				 "--as text' and '--as json' print records",
				 dst, foreign);
	if (!as)
		*form = named ? named : 'd';
	if (*form == 'd' && !strcmp(dst, "-"))
		return cli_usage(cmd, "standard output takes one file: --as "
				      "npy or --as npz");
	return -1;
}

static int run(const struct command *cmd, int argc, char **argv)
{
	const char *as = NULL, *selection = NULL;
	const struct option_row rows[] = {
		{ "as", NULL, &as },
		{ "select", NULL, &selection },
		{ "q", &cli_quiet, NULL },
		{ "quiet", &cli_quiet, NULL },
		{ "no-checksums", &cli_no_checksums, NULL },
		{ NULL, NULL, NULL },
	};
	struct zr_selection sel;
	struct zr_container *c;
	char form = 'd';
	int status = options_take(cmd, rows, argc, argv);

	if (status >= 0)
		return status;
	if (argc - optind != 2)
		return cli_usage(cmd, "expected a container and a destination");
	status = choose_form(cmd, as, argv[optind + 1], &form);
	if (status >= 0)
		return status;
	status = options_order(cmd, false, argc, argv);
	if (status >= 0)
		return status;
	c = cli_open(argv[optind], 0);
	if (!c)
		return CLI_FAILED;
	status = each_parse(cmd, c, argv[optind],
			    selection ? selection : ":", &sel);
	if (!status) {
		status = export(c, &sel, form, argv[optind + 1]);
		zr_selection_free(&sel);
	}
	zr_close(c);
	return status;
}

const struct command cmd_export = {
	"export",
	"[--as dir|npy|npz] [--select SELECTION] CONTAINER DST",
	"Write records as .npy. DST must not exist; it appears whole or not "
	"at\n"
	"all. A DST that ends in .npy or .npz is that, any other a "
	"directory;\n"
	"one that ends as files of other kinds do needs --as. - is standard\n"
	"output, for --as npy or npz.\n\n"
	"  --as dir   a directory with a file for each record, named by its "
	"id;\n"
	"             an id that is selected twice is one file\n"
	"  --as npy   one array with the records along axis 0 (Dense)\n"
	"  --as npz   one file with the members arr_0.npy, arr_1.npy, ...\n"
	"  --select SELECTION   only these records, as for 'zrecord cat'\n"
	"  -q, --quiet      no progress bar, and no line about what was made\n"
	"  --no-checksums   do not compare with check.zr\n",
	run,
};
