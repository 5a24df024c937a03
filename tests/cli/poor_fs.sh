#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# File systems that lack what others have: every command that makes something
# works there, replaces nothing and leaves nothing behind. Each lack is one of
# a library that is loaded first.
. "$(dirname "$0")/count.sh"
case $(nm -D "$ZRECORD" 2>/dev/null) in *__asan*) skip "not under ASan" ;; esac
command -v cc >/dev/null || skip "no compiler"

cat >poor.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
static int has(const char *w) { const char *e = getenv("POOR"); return e && strstr(e, w) != NULL; }
static int no(int e) { errno = e; return -1; }
/* No RENAME_NOREPLACE, as on NFS (EINVAL); not in a sandbox (EPERM). With
 * "keeps" no rename replaces anything (rclone). */
int renameat(int a, const char *b, int c, const char *d)
{
	struct stat s;
	if (has("keeps") && !fstatat(c, d, &s, AT_SYMLINK_NOFOLLOW))
		return no(EEXIST);
	return (int)syscall(SYS_renameat2, a, b, c, d, 0);
}
int renameat2(int a, const char *b, int c, const char *d, unsigned f)
{
	if (f && has("replaces"))
		return no(has("sandbox") ? EPERM : EINVAL);
	return f ? (int)syscall(SYS_renameat2, a, b, c, d, f) : renameat(a, b, c, d);
}
int rename(const char *b, const char *d) { return renameat(AT_FDCWD, b, AT_FDCWD, d); }
int link(const char *a, const char *b)
{
	return has("nolink") ? no(EPERM) : (int)syscall(SYS_linkat, AT_FDCWD, a, AT_FDCWD, b, 0);
}
int chmod(const char *p, mode_t m) { (void)p; (void)m; return no(EPERM); }
int fchmod(int f, mode_t m) { (void)f; (void)m; return no(EPERM); }
static int sync_error(void)
{
	return has("EIO") ? EIO : has("EINVAL") ? EINVAL : has("ENOSYS") ? ENOSYS : has("EROFS") ? EROFS : 0;
}
int fsync(int f) { (void)f; return sync_error() ? no(sync_error()) : 0; }
int syncfs(int f) { (void)f; return sync_error() ? no(sync_error()) : 0; }
int flock(int f, int op) { (void)f; (void)op; return no(has("ENOLCK") ? ENOLCK : ENOSYS); }
/* A file that is open is not removed: Windows behind SMB or a shared folder. */
int unlinkat(int d, const char *p, int f)
{
	struct stat a, b;
	if (has("busy") && !(f & AT_REMOVEDIR) && !fstatat(d, p, &a, AT_SYMLINK_NOFOLLOW))
		for (int i = 3; i < 64; i++)
			if (!fstat(i, &b) && a.st_ino == b.st_ino && a.st_dev == b.st_dev)
				return no(EBUSY);
	return (int)syscall(SYS_unlinkat, d, p, f);
}
int unlink(const char *p) { return unlinkat(AT_FDCWD, p, 0); }
/* Names of 40 bytes, and only UTF-8. */
static int bad_name(const char *p)
{
	const char *s = strrchr(p, '/');
	size_t n = strlen(s = s ? s + 1 : p);
	if (!has("names"))
		return 0;
	if (n > 40)
		return ENAMETOOLONG;
	for (; *s; s++) /* characters of two bytes are enough here */
		if ((unsigned char)*s >= 0x80 && ((unsigned char)*++s & 0xc0) != 0x80)
			return EILSEQ;
	return 0;
}
int mkdirat(int d, const char *p, mode_t m)
{
	return bad_name(p) ? no(bad_name(p)) : (int)syscall(SYS_mkdirat, d, p, m);
}
int mkdir(const char *p, mode_t m) { return mkdirat(AT_FDCWD, p, m); }
int open64(const char *p, int f, ...)
{
	va_list ap;
	va_start(ap, f);
	int m = f & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	return (f & O_CREAT) && bad_name(p) ? no(bad_name(p)) : (int)syscall(SYS_openat, AT_FDCWD, p, f, m);
}
int open(const char *p, int f, ...)
{
	va_list ap;
	va_start(ap, f);
	int m = f & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	return open64(p, f, m);
}
C
cc -shared -fPIC -w poor.c -o poor.so || fail "the library of lacks does not build"
make npy a.npy '|u1' 300,100
make npy big.npy '|u1' 10,3000000
printf 'one\nthree\n' >t.txt
done_well "$ZRECORD" create a.zr a.npy
name=$("$PYTHON" -c 'print("\u00e4" * 19)')

poor() { # LACKS COMMAND...
	local lacks=$1
	shift
	POOR=$lacks LD_PRELOAD=$work/poor.so "$ZRECORD" "$@"
}
for lacks in "" replaces "replaces sandbox" "replaces nolink" \
	"replaces nolink keeps" EINVAL ENOSYS EROFS ENOLCK busy names \
	"replaces nolink keeps EINVAL busy names"; do
	for cmd in "create -q|a.npy" "create -q --codec zstd_dict|a.npy" \
		"create -q --ragged|a.npy" "recode -q --codec zstd|a.zr" "recover|a.zr" \
		"export -q|a.zr" "export -q --as npy|a.zr" "export -q --as npz|a.zr" \
		"train --tier fast -o|a.npy"; do
		set -- ${cmd%|*}
		src=${cmd#*|}
		case $cmd in
		create* | train*) set -- "$@" "$name" $src ;;
		*) set -- "$@" $src "$name" ;;
		esac
		if ! poor "$lacks" "$@" >.out 2>.err || [ -s .err ]; then
			failed "$lacks: $*: $(cat .err)"
		fi
		[ -e "$name" ] || failed "$lacks: $*: made nothing"
		case $cmd in
		create* | reco*) done_well "$ZRECORD" verify "$name"
			[ ! -e "$name/dims" ] || failed "$lacks: $*: left dims" ;;
		esac
		# It is there: nothing replaces it.
		poor "$lacks" "$@" >.out 2>.err && failed "$lacks: $* replaces"
		grep -q exists .err || failed "$lacks: $* again: $(cat .err)"
		nothing_left
		rm -rf "$name"
	done
	# What fails, or is stopped, leaves nothing.
	poor "$lacks" create --ragged c a.npy big.npy 2>/dev/null && failed "$lacks: two shapes"
	printf 'x\n\ny\n' | poor "$lacks" create c --lines - 2>/dev/null && failed "$lacks: empty"
	rm -f pipe
	mkfifo pipe
	(head -c 5000000 big.npy; exec sleep 20) >pipe &
	feeder=$!
	POOR=$lacks LD_PRELOAD=$work/poor.so "$ZRECORD" create c - <pipe 2>/dev/null &
	sleep 0.2
	kill $!
	wait $! 2>/dev/null
	kill $feeder
	wait $feeder 2>/dev/null
	[ ! -e c ] || failed "$lacks: left c"
	nothing_left
done
# What the disk refuses is an error all the same.
for cmd in "create c a.npy" "export a.zr c" "export --as npz a.zr c" "train --tier fast -o c a.npy"; do
	poor EIO $cmd >.out 2>.err && failed "EIO: $cmd works"
	grep -q "Input/output" .err || failed "EIO: $cmd: $(cat .err)"
	[ ! -e c ] || failed "EIO: $cmd left c"
	nothing_left
done
finish
