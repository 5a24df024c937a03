/* SPDX-License-Identifier: BSD-2-Clause
 * One FUSE session: mount, first request, loop, unmount. */
#include "session.h"

#include <errno.h>
#include <fuse_log.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "detach.h"
#include "readahead.h"
#include "sandbox.h"
#include "serve/loop.h"
#include "serve/ops.h"
#include "serve/park.h"
#include "serve/preload.h"
#include "serve/push.h"

/* libfuse before 3.17 forgets FUSE_PARALLEL_DIROPS in its answer to INIT,
 * without which the kernel sends lookups in one directory one by one; and does
 * not know that files which are not cached may be mapped all the same. The two
 * functions below put the bits in on their way out, if the kernel offered them.
 */

/* In flags2; not in the header of older kernels. */
#define DIRECT_IO_ALLOW_MMAP (UINT32_C(1) << 4)

static ssize_t io_read(int fd, void *buf, size_t len, void *data)
{
	struct mount *m = data;
	struct fuse_in_header in;
	struct fuse_init_in init = { 0 };
	ssize_t n = read(fd, buf, len);

	/* Older kernels send a shorter INIT: up to its flags will do. */
	if (n < (ssize_t)(sizeof(in) + offsetof(struct fuse_init_in, flags) +
			  sizeof(init.flags)))
		return n;
	memcpy(&in, buf, sizeof(in));
	if (in.opcode == FUSE_INIT) {
		size_t came = (size_t)n - sizeof(in);

		memcpy(&init, (char *)buf + sizeof(in),
		       came < sizeof(init) ? came : sizeof(init));
		m->init_offered = init.flags;
		m->init_offered2 = init.flags2;
		m->init_unique = in.unique;
	}
	return n;
}

static ssize_t io_writev(int fd, struct iovec *iov, int count, void *data)
{
	struct fuse_out_header *header = iov[0].iov_base;
	struct mount *m = data;

	if (m->init_unique && count == 2 && !header->error &&
	    header->unique == m->init_unique &&
	    iov[1].iov_len >=
		    offsetof(struct fuse_init_out, flags2) + sizeof(uint32_t)) {
		struct fuse_init_out *out = iov[1].iov_base;

		out->flags |= m->init_offered & FUSE_PARALLEL_DIROPS;
		if (m->opt->cache != CACHE_PAGE &&
		    (m->init_offered & FUSE_INIT_EXT) &&
		    (m->init_offered2 & DIRECT_IO_ALLOW_MMAP)) {
			out->flags |= FUSE_INIT_EXT;
			out->flags2 |= DIRECT_IO_ALLOW_MMAP;
		}
		m->init_unique = 0;
	}
	return writev(fd, iov, count);
}

static const struct fuse_custom_io io = {
	.read = io_read,
	.writev = io_writev,
};

/* Append "NAME=VALUE" to an option list; the comma and the backslash in a
 * value are escaped. */
static char *put_option(char *to, const char *name, const char *value)
{
	*to++ = ',';
	to = stpcpy(to, name);
	*to++ = '=';
	for (; *value; value++) {
		if (*value == ',' || *value == '\\')
			*to++ = '\\';
		*to++ = *value;
	}
	*to = '\0';
	return to;
}

static char *mount_options(const struct options *opt, const char *source)
{
	static const char fixed[] = "ro,nosuid,nodev,default_permissions";
	const char *name = opt->fsname ? opt->fsname : source;
	const char *type = opt->subtype ? opt->subtype : "zrecordfs";
	const char *pass = opt->pass ? opt->pass : "";
	char *list = malloc(sizeof(fixed) + 2 * strlen(name) +
			    2 * strlen(type) + strlen(pass) + 32);
	char *p;

	if (!list)
		return NULL;
	p = stpcpy(list, fixed);
	p = put_option(p, "fsname", name);
	p = put_option(p, "subtype", type);
	strcpy(p, pass);
	return list;
}

static void libfuse_says(enum fuse_log_level level, const char *format,
			 va_list ap)
{
	(void)level;
	vsay(format, ap);
}

static struct fuse_session *new_session(struct mount *m, const char *source)
{
	char program[] = "zrecordfs", o[] = "-o", d[] = "-d";
	char *options = mount_options(m->opt, source);
	char *argv[] = { program, o, options, m->opt->debug ? d : NULL, NULL };
	struct fuse_args args = FUSE_ARGS_INIT(m->opt->debug ? 4 : 3, argv);
	struct fuse_lowlevel_ops ops = ops_table(m->opt);
	struct fuse_session *se = NULL;

	/* What it prints of each request is many pieces of lines. */
	if (!m->opt->debug)
		fuse_set_log_func(libfuse_says);
	if (options)
		se = fuse_session_new(&args, &ops, sizeof(ops), m);
	free(options);
	fuse_opt_free_args(&args);
	return se;
}

/* The first request is INIT: after its answer the mount works. It is taken
 * here so that we know, and before there are threads. */
static int first_request(struct fuse_session *se)
{
	struct fuse_buf buf = { .mem = NULL };
	int n;

	do {
		n = fuse_session_receive_buf(se, &buf);
	} while (n == -EINTR);
	if (n > 0)
		fuse_session_process_buf(se, &buf);
	free(buf.mem);
	if (n <= 0 || fuse_session_exited(se))
		return EXIT_MOUNT;
	return EXIT_DONE;
}

/* Without who waits for the mount, it is the end. */
static int serve(struct mount *m, struct daemon *d, struct unmounter *u)
{
	int rc;

	if (daemon_ready(d))
		return EXIT_SYSTEM;
	unmounter_leave(u);
	rc = loop_run(m->loop);
	if (!rc)
		return EXIT_DONE;
	say("%s: serving failed: %s", u->mountpoint, strerror(-rc));
	return EXIT_SYSTEM;
}

/* All files are open by now, and there are no threads yet. */
static void give_up_rights(struct mount *m)
{
	if (!m->opt->no_sandbox && sandbox_fits())
		sandbox_names(sandbox_enter(), m->sandbox);
}

static int serve_with(struct mount *m, struct daemon *d,
		      struct fuse_session *se, struct unmounter *u,
		      struct preload *preload)
{
	int rc = push_start(&m->push, m, se);

	if (!rc)
		rc = park_start(&m->park, m);
	if (!rc)
		rc = preload_start(preload, m->push);
	if (!rc)
		rc = loop_start(&m->loop, m, se);
	if (!rc)
		return serve(m, d, u);
	say("%s: cannot start a thread: %s", u->mountpoint, strerror(-rc));
	return EXIT_SYSTEM;
}

static int serve_mounted(struct mount *m, struct daemon *d,
			 struct fuse_session *se, struct detach *detach,
			 struct preload *preload)
{
	struct unmounter *u = detach->unmounter;
	int status = first_request(se);

	m->readahead_kib =
		readahead_set(m->readahead_fd, m->opt->readahead_kib);
	if (m->opt->readahead_kib && m->readahead_kib != m->opt->readahead_kib)
		say("-o readahead_kb: %s", m->readahead_fd < 0
						   ? "needs /sys"
						   : "only root may set it");
	if (status)
		say("%s: %s", u->mountpoint,
		    detach->signalled ? "ended by a signal while mounting"
				      : "the kernel did not answer the mount");
	else
		status = serve_with(m, d, se, u, preload);
	preload_stop(preload);
	push_stop(m->push);
	park_stop(m->park);
	loop_free(m->loop);
	return status;
}

static int run_mounted(struct mount *m, struct daemon *d,
		       struct fuse_session *se, struct unmounter *u)
{
	struct preload *preload = NULL;
	struct detach detach;
	int rc = fuse_session_custom_io(se, &io, fuse_session_fd(se));
	int status = EXIT_SYSTEM;

	if (!rc)
		rc = unmounter_know(u);
	if (!rc)
		rc = preload_new(&preload, m, u->mountpoint);
	m->readahead_fd = u->known ? readahead_open(u->device) : -1;
	if (!rc) {
		give_up_rights(m);
		rc = detach_start(&detach, u);
	}
	if (rc) {
		say("%s: %s", u->mountpoint,
		    !u->known && rc == -ENOENT ? "is not mounted any more"
					       : strerror(-rc));
		(void)readahead_set(m->readahead_fd, 0);
		preload_stop(preload);
	} else {
		status = serve_mounted(m, d, se, &detach, preload);
		detach_stop(&detach);
	}
	/* What did not end by an unmount; libfuse may not do so any more. */
	if (status && u->known)
		unmounter_unmount(u);
	return status;
}

static int mount_and_run(struct mount *m, struct daemon *d,
			 struct fuse_session *se, const char *mountpoint)
{
	struct unmounter unmounter;
	int status = EXIT_MOUNT, rc;

	rc = unmounter_start(&unmounter, mountpoint, d->pipe < 0);
	if (rc) {
		say("cannot start a process: %s", strerror(-rc));
		return EXIT_SYSTEM;
	}
	if (fuse_session_mount(se, mountpoint)) {
		say("%s: cannot mount here", mountpoint);
	} else {
		daemon_mounted(d);
		status = run_mounted(m, d, se, &unmounter);
		fuse_session_unmount(se);
	}
	unmounter_stop(&unmounter);
	return status;
}

int session_run(struct mount *m, struct daemon *d, const char *source,
		const char *mountpoint)
{
	struct fuse_session *se = new_session(m, source);
	int status;

	if (!se) {
		say("libfuse refused the options");
		return EXIT_USAGE;
	}
	detach_block();
	status = mount_and_run(m, d, se, mountpoint);
	fuse_session_destroy(se);
	return status;
}
