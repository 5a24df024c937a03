/* SPDX-License-Identifier: BSD-2-Clause
 * The directory to mount on. */
#include "mountpoint.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/say.h"
#include "mounts.h"

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

static bool is_ours(const struct options *opt, const struct place *p)
{
	const char *type = p->type;

	if (strncmp(type, "fuse.", 5) != 0)
		return false;
	return !strcmp(type + 5, "zrecordfs") ||
	       (opt->subtype && !strcmp(type + 5, opt->subtype));
}

static bool mounted_here(const struct options *opt, const char *real,
			 bool *known)
{
	struct place p;
	bool here = !place_at(real, &p);
	bool ours = here && is_ours(opt, &p);

	*known = !here || p.type[0];
	place_free(&p);
	return ours;
}

/* Called when the mount at the path is dead. Returns true if it is gone. */
static bool clean_up(const struct options *opt)
{
	/* No link here leads through the dead one. */
	char *real = realpath(opt->mountpoint, NULL);
	const char *path = real ? real : opt->mountpoint;
	bool known, ours = mounted_here(opt, path, &known), gone = false;
	int rc;

	if (!ours) {
		say("%s: a mount %swhose driver died is here: run "
		    "fusermount3 -u %s first",
		    opt->mountpoint, known ? "of another file system " : "",
		    path);
	} else if (!opt->cleanup_stale || opt->fake) {
		say("%s: a mount whose driver died is here: run fusermount3 -u "
		    "%s first, or mount with -o cleanup_stale",
		    opt->mountpoint, path);
	} else {
		rc = place_unmount(path);
		gone = !rc;
		if (rc)
			say("%s: cannot unmount the dead mount here: %s", path,
			    rc == -ENOENT ? "fusermount3 is not found"
					  : strerror(-rc));
	}
	free(real);
	return gone;
}

static char *resolve(const struct options *opt)
{
	char *real = realpath(opt->mountpoint, NULL);
	bool known;

	if (!real) {
		say("%s: %s", opt->mountpoint, strerror(errno));
	} else if (mounted_here(opt, real, &known)) {
		say("%s: already mounted: run fusermount3 -u %s first", real,
		    real);
		free(real);
		real = NULL;
	} else if (!is_empty(real)) {
		say("%s is not empty: its files are hidden while mounted",
		    opt->mountpoint);
	}
	return real;
}

char *mountpoint_find(const struct options *opt)
{
	struct stat st;
	int rc;

	if (place_is_dead(opt->mountpoint) && !clean_up(opt))
		return NULL;
	rc = stat(opt->mountpoint, &st);
	if (rc || !S_ISDIR(st.st_mode)) {
		say("%s: %s", opt->mountpoint, strerror(rc ? errno : ENOTDIR));
		return NULL;
	}
	return resolve(opt);
}
