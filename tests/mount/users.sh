#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Who may read: the one who mounted, others with allow_other, as far as the
# mode goes. And a mount by someone who is not root.
# The folder of a test run is closed to other users.
export TMPDIR=/tmp
. "$(dirname "$0")/lib.sh"
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	echo "skipped: needs root and setpriv"
	exit 77
fi
C=$GOLDEN/dense_f4_raw
as() { # UID COMMAND...
	local id=$1
	shift
	setpriv --reuid="$id" --regid="$id" --clear-groups "$@"
}
chmod 755 "$WORK"
as 65534 test -x "$M" || {
	echo "skipped: other users do not get to $M"
	exit 77
}

"$ZRECORDFS" "$C" "$M" || fail mount
as 65534 cat "$M/info.json" >/dev/null 2>&1 && fail "others read"
unmounted "$M"
"$ZRECORDFS" -o allow_other "$C" "$M" || fail allow_other
as 65534 cat "$M/records/3.npy" | cmp - "$M/records/3.npy" || fail "allow_other"
unmounted "$M"
"$ZRECORDFS" -o allow_other,uid=65534,gid=1,umask=077 "$C" "$M" || fail umask
as 65534 cat "$M/info.json" >/dev/null || fail "owner may not read"
as 1 cat "$M/info.json" >/dev/null 2>&1 && fail "umask is not heeded"
unmounted "$M"

# Not root. The device of this machine may be closed to others: use our own
# in a private view of the file system.
mkdir "$WORK/u"
cp -r "$C" "$WORK/c"
cp "$ZRECORDFS" "$WORK/driver"
mknod -m 666 "$WORK/fuse" c 10 229 2>/dev/null || {
	echo "skipped in part: no device of our own"
	exit 0
}
chown -R 65534 "$WORK/u" "$WORK/c"
cat >"$WORK/user.sh" <<'END'
cd "$1" || exit 1
./driver c u || exit 10
cmp u/records/3.npy u/records/000003.npy || exit 11
[ "$(stat -c %u u/info.json)" = 65534 ] || exit 12
fusermount3 -u u || exit 13
# A signal unmounts through fusermount3, and readers are not cut off.
./driver -f c u &
for i in $(seq 500); do
	grep -q " $1/u fuse.zrecordfs" /proc/mounts && break
	sleep 0.02
done
cat u/info.json >/dev/null || exit 17
exec 9<u/records/000003.npy
kill -TERM $!
for i in $(seq 500); do
	grep -q " $1/u fuse.zrecordfs" /proc/mounts || break
	sleep 0.02
done
grep -q " $1/u fuse.zrecordfs" /proc/mounts && exit 14
[ "$(wc -c <&9)" -eq 368 ] || exit 15
exec 9<&-
wait $! || exit 16
# To be mounted it needs no PATH that leads to fusermount3, nor to unmount.
PATH=/nonexistent ./driver -f c u &
for i in $(seq 500); do
	grep -q " $1/u fuse.zrecordfs" /proc/mounts && break
	sleep 0.02
done
kill -TERM $!
wait $! || exit 18
grep -q " $1/u fuse.zrecordfs" /proc/mounts && exit 19
exit 0
END
unshare -m bash -c 'mount --make-rprivate / &&
	mount --bind "$0/fuse" /dev/fuse &&
	exec setpriv --reuid=65534 --regid=65534 --clear-groups \
		bash "$0/user.sh" "$0"' "$WORK" >"$WORK/out" 2>&1
rc=$?
[ $rc -eq 0 ] || fail "as a user: step $rc: $(cat "$WORK/out")"
