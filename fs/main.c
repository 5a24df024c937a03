/* SPDX-License-Identifier: BSD-2-Clause
 * zrecordfs: from the command line to a mount. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon.h"
#include "mount.h"
#include "options.h"
#include "say.h"
#include "session.h"

static bool is_empty(const char *path)
{
	DIR *d = opendir(path);
	unsigned n = 0;

	if (!d)
		return true;
	while (n < 3 && readdir(d))
		n++;
	closedir(d);
	return n < 3;
}

/* Returns the path to mount on, free it; or NULL after saying why not. */
static char *find_mountpoint(const char *path)
{
	struct stat st;
	char *real;

	if (stat(path, &st)) {
		if (errno == ENOTCONN)
			say("%s: a mount whose driver died is here: run "
			    "fusermount3 -u on it first",
			    path);
		else
			say("%s: %s", path, strerror(errno));
		return NULL;
	}
	if (!S_ISDIR(st.st_mode)) {
		say("%s: %s", path, strerror(ENOTDIR));
		return NULL;
	}
	real = realpath(path, NULL);
	if (!real)
		say("%s: %s", path, strerror(errno));
	else if (!is_empty(real))
		say("%s is not empty: its files are hidden while mounted",
		    path);
	return real;
}

static int run(const struct options *opt, struct daemon *d,
	       const char *mountpoint)
{
	struct mount m = { .opt = opt };
	char *source = NULL;
	int status = EXIT_SYSTEM;

	if (streams_open(&m, opt->container)) {
		streams_close(&m);
		return EXIT_MOUNT;
	}
	source = realpath(opt->container, NULL);
	if (mount_init(&m))
		say("%s", zr_strerror(-ENOMEM));
	else if (opt->fake)
		status = EXIT_DONE;
	else
		status = session_run(&m, d, source ? source : opt->container,
				     mountpoint);
	free(source);
	mount_free(&m);
	streams_close(&m);
	return status;
}

int main(int argc, char **argv)
{
	struct options opt;
	struct daemon d;
	char *mountpoint;
	int status;

	if (daemon_stdio())
		return EXIT_SYSTEM;
	status = options_parse(&opt, argc, argv);
	if (status < 0) {
		status = EXIT_MOUNT;
		mountpoint = find_mountpoint(opt.mountpoint);
		if (mountpoint) {
			status = daemon_start(&d, opt.foreground || opt.fake);
			if (!status) {
				status = run(&opt, &d, mountpoint);
				daemon_failed(&d, status);
			}
		}
		free(mountpoint);
	}
	options_free(&opt);
	return status;
}
