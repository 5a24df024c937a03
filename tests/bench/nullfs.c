/* SPDX-License-Identifier: BSD-2-Clause
 * A file system that does nothing: what a driver costs before it has read or
 * decoded anything, with this kernel and this libfuse.
 *
 *   nullfs [-f] [-p] [-t THREADS] RECORDS BYTES LARGE DIR
 *
 * Shows records/000000.npy .. of BYTES each and all.npy of LARGE bytes, all
 * from memory. Nothing is asked twice: opens are the kernel's own, names and
 * attributes hold for ever, what was read stays cached, lookups in a directory
 * go side by side. -p lets every listing tell the kernel all files. */
#include <errno.h>
#include <fuse_lowlevel.h>
#include <inttypes.h>
#include <linux/fuse.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define FOREVER 1e9
#define BLOB ((size_t)2 << 20) /* more than a READ asks for */

enum { INO_ROOT = FUSE_ROOT_ID, INO_RECORDS, INO_ALL, INO_FIRST = 16 };

static uint64_t records, record_bytes, large_bytes;
static bool always_plus;
static char *blob;

static uint64_t size_of(fuse_ino_t ino)
{
	return ino == INO_ALL ? large_bytes : record_bytes;
}

static bool fill_attr(fuse_ino_t ino, struct stat *st)
{
	*st = (struct stat){ .st_ino = ino, .st_nlink = 1 };
	if (ino == INO_ROOT || ino == INO_RECORDS) {
		st->st_mode = S_IFDIR | 0555;
		st->st_nlink = 2;
		return true;
	}
	st->st_mode = S_IFREG | 0444;
	st->st_size = (off_t)size_of(ino);
	st->st_blocks = (st->st_size + 511) / 512;
	st->st_blksize = 4096;
	return ino == INO_ALL ||
	       (ino >= INO_FIRST && ino - INO_FIRST < records);
}

static void fill_entry(fuse_ino_t ino, struct fuse_entry_param *e)
{
	*e = (struct fuse_entry_param){ .ino = ino,
					.attr_timeout = FOREVER,
					.entry_timeout = FOREVER };
	if (!fill_attr(ino, &e->attr))
		e->ino = 0;
}

/* Names are of six digits or more. */
static size_t format(char *name, uint64_t i)
{
	char digits[24], *p = digits + sizeof(digits);
	size_t n;

	memcpy(p -= 5, ".npy", 5);
	for (n = 0; i || n < 6; i /= 10, n++)
		*--p = (char)('0' + i % 10);
	n = (size_t)(digits + sizeof(digits) - p);
	memcpy(name, p, n);
	return n - 1;
}

static fuse_ino_t find(fuse_ino_t parent, const char *name)
{
	char *end;
	uint64_t i;

	if (parent == INO_ROOT)
		return !strcmp(name, "records")   ? INO_RECORDS
		       : !strcmp(name, "all.npy") ? INO_ALL
						  : 0;
	i = strtoull(name, &end, 10);
	return end != name && !strcmp(end, ".npy") ? INO_FIRST + i : 0;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e;

	fill_entry(find(parent, name), &e);
	fuse_reply_entry(req, &e);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino,
		       struct fuse_file_info *fi)
{
	struct stat st;

	(void)fi;
	if (fill_attr(ino, &st))
		fuse_reply_attr(req, &st, FOREVER);
	else
		fuse_reply_err(req, ENOENT);
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	(void)fi;
	fuse_reply_err(req, ENOSYS);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi)
{
	uint64_t left = size_of(ino), from = (uint64_t)off;

	(void)fi;
	left = from < left ? left - from : 0;
	if (size > left)
		size = (size_t)left;
	if (size > BLOB)
		size = BLOB;
	fuse_reply_buf(req, blob, size);
}

/* The entry at a place of a directory: 0 after the last. */
static fuse_ino_t entry_at(fuse_ino_t dir, uint64_t place, char *name)
{
	if (dir == INO_ROOT) {
		strcpy(name, place ? "all.npy" : "records");
		return place == 0 ? INO_RECORDS : place == 1 ? INO_ALL : 0;
	}
	format(name, place);
	return place < records ? INO_FIRST + place : 0;
}

static void list(fuse_req_t req, fuse_ino_t dir, size_t size, off_t off,
		 bool plus)
{
	char name[24], *buf = malloc(size);
	struct fuse_entry_param e;
	size_t used = 0, n;
	fuse_ino_t ino;

	if (!buf) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	for (; (ino = entry_at(dir, (uint64_t)off, name)); off++) {
		fill_entry(ino, &e);
		n = plus ? fuse_add_direntry_plus(req, buf + used, size - used,
						  name, &e, off + 1)
			 : fuse_add_direntry(req, buf + used, size - used, name,
					     &e.attr, off + 1);
		if (n > size - used)
			break;
		used += n;
	}
	fuse_reply_buf(req, buf, used);
	free(buf);
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		       struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, off, false);
}

static void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size,
			   off_t off, struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, off, true);
}

static void op_init(void *data, struct fuse_conn_info *conn)
{
	(void)data;
	conn->want |= conn->capable &
		      (FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO |
		       FUSE_CAP_ASYNC_READ);
	if (always_plus)
		conn->want &= ~(unsigned)FUSE_CAP_READDIRPLUS_AUTO;
	conn->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
				  FUSE_CAP_SPLICE_MOVE);
	conn->max_background = 64;
	conn->congestion_threshold = 48;
}

/* libfuse before 3.17 does not ask for lookups side by side. The first answer
 * is that to INIT. */
static ssize_t io_writev(int fd, struct iovec *iov, int count, void *data)
{
	static bool done;

	(void)data;
	if (!done && count == 2) {
		struct fuse_init_out *out = iov[1].iov_base;

		out->flags |= FUSE_PARALLEL_DIROPS;
		done = true;
	}
	return writev(fd, iov, count);
}

static ssize_t io_read(int fd, void *buf, size_t len, void *data)
{
	(void)data;
	return read(fd, buf, len);
}

static const struct fuse_lowlevel_ops operations = {
	.init = op_init,
	.lookup = op_lookup,
	.getattr = op_getattr,
	.open = op_open,
	.opendir = op_open,
	.read = op_read,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
};

static int serve(struct fuse_session *se, const char *dir, bool foreground,
		 unsigned threads)
{
	static const struct fuse_custom_io io = { .writev = io_writev,
						  .read = io_read };
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	int rc = 1;

	if (!config || fuse_set_signal_handlers(se))
		return 1;
	if (!fuse_session_mount(se, dir)) {
		fuse_session_custom_io(se, &io, fuse_session_fd(se));
		fuse_loop_cfg_set_max_threads(config, threads);
		rc = fuse_daemonize(foreground) ||
		     fuse_session_loop_mt(se, config);
		fuse_session_unmount(se);
	}
	fuse_remove_signal_handlers(se);
	fuse_loop_cfg_destroy(config);
	return rc;
}

int main(int argc, char **argv)
{
	char program[] = "nullfs", o[] = "-o";
	char options[] = "ro,default_permissions,fsname=nullfs,subtype=nullfs";
	char *fuse_argv[] = { program, o, options, NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, fuse_argv);
	struct fuse_session *se;
	bool foreground = false;
	unsigned threads = 2;
	int opt, rc;

	while ((opt = getopt(argc, argv, "fpt:")) != -1) {
		if (opt == 'f')
			foreground = true;
		else if (opt == 'p')
			always_plus = true;
		else if (opt == 't')
			threads = (unsigned)strtoul(optarg, NULL, 10);
		else
			argc = 0;
	}
	if (argc - optind != 4) {
		fprintf(stderr, "usage: nullfs [-f] [-p] [-t THREADS] RECORDS "
				"BYTES LARGE DIR\n");
		return 2;
	}
	records = strtoull(argv[optind], NULL, 10);
	record_bytes = strtoull(argv[optind + 1], NULL, 10);
	large_bytes = strtoull(argv[optind + 2], NULL, 10);
	blob = malloc(BLOB);
	se = fuse_session_new(&args, &operations, sizeof(operations), NULL);
	if (!blob || !se)
		return 1;
	memset(blob, 1, BLOB);
	rc = serve(se, argv[optind + 3], foreground, threads);
	fuse_session_destroy(se);
	free(blob);
	return rc != 0;
}
