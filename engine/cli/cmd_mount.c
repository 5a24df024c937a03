/* SPDX-License-Identifier: BSD-2-Clause
 * zrecord mount and umount: run the driver, and fusermount3. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/options.h"

/* zrecordfs beside this program, as in a build folder, else in PATH. */
static void exec_driver(char **argv)
{
	static const char name[] = "zrecordfs";
	char path[PATH_MAX + sizeof(name)];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
	char *slash;

	if (n > 0) {
		path[n] = '\0';
		slash = strrchr(path, '/');
		memcpy(slash + 1, name, sizeof(name));
		execv(path, argv);
	}
	execvp(name, argv);
}

static int run_mount(const struct command *cmd, int argc, char **argv)
{
	static char driver[] = "zrecordfs";

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return options_help(cmd);
	if (argc < 3)
		return cli_usage(cmd, "expected a container and a directory");
	argv[0] = driver;
	exec_driver(argv);
	return cli_fail("zrecordfs: %s: is it installed?", strerror(errno));
}

const struct command cmd_mount = {
	"mount",
	"[OPTION]... CONTAINER DIR",
	"Mount a container: DIR/records/000000.npy and so on. The options are\n"
	"those of zrecordfs(1); 'zrecordfs --help' lists them.\n",
	run_mount,
};

/* Is `dir` the root of a mount? Another device or the same inode as its
 * parent tells; a dead FUSE mount cannot even be looked at. */
static bool is_mount(const char *dir)
{
	char parent[PATH_MAX + 4];
	struct stat a, b;

	if (stat(dir, &a))
		return errno == ENOTCONN || errno == EIO;
	if (!S_ISDIR(a.st_mode))
		return false;
	snprintf(parent, sizeof(parent), "%s/..", dir);
	if (stat(parent, &b))
		return true;
	return a.st_dev != b.st_dev || a.st_ino == b.st_ino;
}

/* Run a program to its end; -1 if it could not be started. */
static int run_program(char *const argv[])
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) == 127)
		return -1;
	return WEXITSTATUS(status);
}

static int run_umount(const struct command *cmd, int argc, char **argv)
{
	static char fusermount[] = "fusermount3", umount[] = "umount";
	static char minus_u[] = "-u", dashes[] = "--";
	const struct option_row rows[] = { { NULL, NULL, NULL } };
	char path[PATH_MAX], *dir;
	int rc = options_take(cmd, rows, argc, argv);

	if (rc >= 0)
		return rc;
	if (argc - optind != 1)
		return cli_usage(cmd, "expected one directory");
	dir = argv[optind];
	if (access(dir, F_OK) && errno == ENOENT)
		return cli_fail("%s: no such directory", dir);
	if (!is_mount(dir))
		return cli_fail("%s: nothing is mounted there", dir);
	/* fusermount3 does not follow symbolic links. A dead mount cannot be
	 * resolved, and then is named as it is. */
	if (realpath(dir, path))
		dir = path;
	rc = run_program((char *[]){ fusermount, minus_u, dashes, dir, NULL });
	if (rc == -1)
		rc = run_program((char *[]){ umount, dashes, dir, NULL });
	if (rc == -1)
		return cli_fail("neither fusermount3 nor umount could be run");
	return rc ? CLI_FAILED : CLI_OK;
}

const struct command cmd_umount = {
	"umount",
	"DIR",
	"Unmount what is mounted at DIR.\n",
	run_umount,
};
