#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Exit statuses and messages of the command line, and what its options do.
. "$(dirname "$0")/lib.sh"
C=$GOLDEN/dense_f4_raw

# expect STATUS TEXT ARGUMENT...: the driver fails with one line.
expect() {
	local status=$1 text=$2
	shift 2
	"$ZRECORDFS" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
	local rc=$?
	[ $rc -eq "$status" ] || fail "$*: status $rc: $(cat "$WORK/err")"
	grep -q -- "$text" "$WORK/err" || fail "$*: says $(cat "$WORK/err")"
	[ "$(wc -l <"$WORK/err")" -eq 1 ] || fail "$*: not one line"
	[ ! -s "$WORK/out" ] || fail "$*: stdout"
	mounted "$M" && fail "$*: mounted"
	wait_until no_driver "$M" || fail "$*: a process stays"
}

# works OPTION...: it mounts and reads.
works() {
	"$ZRECORDFS" "$@" "$C" "$M" >"$WORK/out" 2>&1 </dev/null ||
		fail "$*: status $?: $(cat "$WORK/out")"
	cmp -s "$M/records/3.npy" "$M/records/000003.npy" || fail "$*: read"
}

expect 1 "expected CONTAINER and DIRECTORY, found 0"
expect 1 "found 1" "$C"
expect 1 "found 3" "$C" "$M" more
expect 1 "-x is unknown" -x "$C" "$M"
expect 1 "--nonsense is unknown" --nonsense "$C" "$M"
expect 1 "-o needs a value" "$C" "$M" -o
expect 32 "No such file" "$C" "$WORK/none"
expect 32 "Not a directory" "$C" "$C/meta.zr"
expect 32 "none" "$WORK/none" "$M"
expect 32 "zrecord recover" "$DATA/bad/unpublished" "$M"
expect 32 "" -f "$DATA/bad/meta_empty" "$M"
expect 1 "'batches'.*'batch'" -o batches=3 "$C" "$M"
expect 1 "'alow_other'.*'allow_other'" -o ro,alow_other "$C" "$M"
expect 1 "'read'.*'readahead_kb'" -o read=1 "$C" "$M"
for far in foo bogus xy; do
	expect 1 "unknown option '$far': see zrecordfs --help" -o $far "$C" "$M"
done
expect 1 "needs a value" -o batch "$C" "$M"
expect 1 "takes no value" -o allow_other=1 "$C" "$M"
for bad in batch= batch=0 batch=: batch=2147483649 batch=1:x batch=-1 \
	batch=1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17 cache_mb=x cache_mb= \
	cache_mb=99999999999999999999 threads=0 threads=1000 uid=x uid=-1 \
	uid=4294967295 gid= umask=8 umask=01777 umask= fsname= subtype= verify=no \
	verify= xattr=1; do
	expect 1 "${bad%%=*}" -o "$bad" "$C" "$M"
done

expect 1 "'fsname=' needs a value" -o fsname= "$C" "$M"
# The first would be forgotten.
expect 1 "'batch' is given twice; the second is 'batch=3'" \
	-o batch=2 -o batch=3 "$C" "$M"
for twice in threads=1 cache_mb=8 layout=flat cache=page push=on verify=read \
	checksums=on sandbox=on uid=0 umask=077 fsname=a subtype=a; do
	expect 1 "'${twice%=*}' is given twice" -o "$twice,$twice" "$C" "$M"
done
works
"$ZRECORDFS" "$C" "$M" 2>"$WORK/err"
[ $? -eq 32 ] || fail "mounted twice"
grep -q "already mounted" "$WORK/err" || fail "says $(cat "$WORK/err")"
unmounted "$M"

"$ZRECORDFS" --help | grep -q '^usage: zrecordfs' || fail "--help"
"$ZRECORDFS" -h >/dev/null || fail "-h"
"$ZRECORDFS" --version | grep -qE '^zrecordfs [0-9]+\.[0-9]+\.[0-9]+$' ||
	fail "--version"
"$ZRECORDFS" -V >/dev/null || fail "-V"

# What fstab lines carry is taken and ignored.
works -o ro,noatime,nodev,nosuid,noexec,relatime,lazytime,_netdev,nofail \
	-o user,noauto,x-systemd.automount,X-mount.mkdir,comment=x,defaults
unmounted "$M"
works -o nonempty,kernel_cache,nousers,noowner,nomand,comment=a,X-y.z=b
unmounted "$M"
# Labels of SELinux are for a kernel that has it. Commas in them are quoted.
works -o 'ro,context="system_u:object_r:usr_t:s0:c1,c2",rootcontext=a:b:c:s0'
unmounted "$M"
expect 32 "unmount it, then mount it" -o remount,ro "$C" "$M"
# Options may follow the arguments, as mount.fuse3 writes them.
"$ZRECORDFS" "$C" "$M" -o ro,dev,suid || fail "options last"
unmounted "$M"
works -o rw
grep -q read-only "$WORK/out" || fail "rw without a warning"
[ ! -w "$M/info.json" ] || fail "rw is rw"
unmounted "$M"
works -o batch=9:4:9,cache_mb=0,threads=3
[ "$(ls "$M/batches" | xargs)" = "4 9" ] || fail "batch=9:4:9"
unmounted "$M"
works -o uid=12,gid=34,umask=0227
[ "$(stat -c %u:%g:%a "$M/info.json" "$M/records" | xargs)" = \
	"12:34:440 12:34:550" ] || fail "uid, gid, umask"
unmounted "$M"
works -o 'fsname=a\,b c\\d,subtype=some'
grep -F "$M " /proc/mounts | grep -qF 'a,b\040c\134d' ||
	fail "fsname: $(grep -F "$M " /proc/mounts)"
grep -F "$M " /proc/mounts | grep -q fuse.some || fail subtype
unmounted "$M"

# By default the source is the absolute path, whatever is in it.
odd="$WORK/odd, name\\ (1)"
cp -r "$C" "$odd"
(cd "$WORK" && "$ZRECORDFS" "odd, name\\ (1)" m) || fail "odd path"
grep -F "$M " /proc/mounts | grep -q '^/.*odd,\\040name\\134\\040(1) .*fuse.zrecordfs ro,nosuid,nodev' ||
	fail "fsname: $(grep -F "$M " /proc/mounts)"
fusermount3 -u "$M"
wait_until no_driver m || fail "driver stays"
# ... and so may be the mount point.
mkdir "$WORK/a b"
"$ZRECORDFS" "$C" "$WORK/a b" || fail "mount point with a space"
unmounted "$WORK/a b"
ln -s m "$WORK/link"
"$ZRECORDFS" "$C" "$WORK/link" || fail "mount point by a link"
mounted "$M" || fail "link not followed"
fusermount3 -u "$M"
wait_until no_driver "$WORK/link" || fail "driver stays"

# A folder that is not empty is named.
touch "$M/x"
works
grep -q "not empty" "$WORK/out" || fail "not empty: $(cat "$WORK/out")"
unmounted "$M"
rm "$M/x"

# Closed standard descriptors harm nothing.
"$ZRECORDFS" "$C" "$M" <&- >&- 2>&- || fail "closed descriptors"
cmp -s "$M/records/3.npy" "$M/records/000003.npy" || fail "read"
unmounted "$M"

# In the background nothing of ours is held.
(cd "$WORK/a b" && "$ZRECORDFS" "$C" "$M") | cat || fail "pipe"
pid=$(drivers "$M")
[ "$(readlink "/proc/$pid/cwd")" = / ] || fail "cwd"
for fd in 0 1 2; do
	[ "$(readlink "/proc/$pid/fd/$fd")" = /dev/null ] || fail "fd $fd"
done
[ "$(cut -d' ' -f6 "/proc/$pid/stat")" = "$pid" ] || fail setsid
[ "$(ls "/proc/$pid/fd" | wc -l)" -le 12 ] || fail "descriptors leak"
unmounted "$M"

# As mount(8) calls it: -f is fake, -s is sloppy, options come last.
ln -s "$ZRECORDFS" "$WORK/mount.zrecordfs"
helper=$WORK/mount.zrecordfs
"$helper" "$C" "$M" -f -o rw,threads=2 -o threads=1 || fail "fake: $?"
mounted "$M" && fail "fake mounts"
"$helper" "$C" "$M" -o nonsense 2>/dev/null && fail "helper takes nonsense"
"$helper" "$C" "$M" -sn -v -o rw,nonsense,noauto >"$WORK/out" 2>&1 ||
	fail "helper: $(cat "$WORK/out")"
[ ! -s "$WORK/out" ] || fail "helper says $(cat "$WORK/out")"
mounted "$M" || fail "helper does not mount"
fusermount3 -u "$M"
wait_until not pgrep -f "^$helper" >/dev/null || fail "helper stays"
