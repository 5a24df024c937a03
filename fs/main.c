/* SPDX-License-Identifier: BSD-2-Clause
 * zrecordfs: from the command line to a mount. */
#include <errno.h>
#include <stdlib.h>

#include "base/cmdline.h"
#include "base/descriptors.h"
#include "base/say.h"
#include "files/worker.h"
#include "life/daemon.h"
#include "life/mountpoint.h"
#include "life/session.h"
#include "tree/mount.h"
#include "tree/streams.h"

static int run(const struct options *opt, struct daemon *d,
	       const char *mountpoint)
{
	struct mount m = { .opt = opt };
	char *source = NULL;
	int status = EXIT_SYSTEM;

	/* What is told later is told by one who has left this directory. */
	source = realpath(opt->container, NULL);
	if (streams_open(&m, source ? source : opt->container)) {
		streams_close(&m);
		free(source);
		return EXIT_MOUNT;
	}
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
		mountpoint = mountpoint_find(&opt);
		if (mountpoint) {
			const int keep[] = {
				descriptor_in(opt.container),
				descriptor_in(opt.mountpoint),
			};

			status = daemon_start(&d, opt.foreground || opt.fake,
					      keep);
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
