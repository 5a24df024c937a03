#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A start that is cut short, at any moment, or that lacks something, leaves no
# dead mount and no process; what the caller had open is not the driver's.
. "$(dirname "$0")/lib.sh"
C=$GOLDEN/dense_f4_raw
ROUNDS=10
[ -z "${ZRECORD_LONG-}" ] || ROUNDS=60

all_of() { # POINT: processes of the driver, also those that do not serve
	local pid
	for pid in $(pgrep '^zrecord(fs|-)'); do
		tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" |
			grep -qxF "$1" || continue
		grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null ||
			echo "$pid"
	done
}
nobody() { [ -z "$(all_of "$1")" ]; }

# settled WHAT: either it is mounted and works, or nothing is left.
settled() {
	local i
	for ((i = 0; i < 500; i++)); do
		nobody "$M" && break
		mounted "$M" && [ -s "$M/info.json" ] && break
		sleep 0.01
	done 2>/dev/null
	if [ -n "$(drivers "$M")" ] && mounted "$M"; then
		[ -s "$M/info.json" ] || fail "$1: does not work"
		unmounted "$M"
	fi
	mounted "$M" && fail "$1: a dead mount"
	wait_until nobody "$M" || fail "$1: a process is left: $(all_of "$M")"
}

# So many records that to read where they are takes a moment.
slow=$WORK/slow
python3 - "$GOLDEN/dense_f4_raw" "$slow" <<'E' || fail "a slow container"
import os, shutil, struct, sys
shutil.copytree(sys.argv[1], sys.argv[2])
if os.path.exists(sys.argv[2] + "/check.zr"):
    os.remove(sys.argv[2] + "/check.zr")
name = sys.argv[2] + "/meta.zr"
old = open(name, "rb").read()
n = 2_000_000
with open(name, "wb") as f:
    f.write(struct.pack("<Q", n) + old[8:4096])
    for _ in range(n // 100_000):
        f.write(old[4096:4112] * 100_000)
E
"$ZRECORDFS" "$slow" "$M" || fail "the slow container"
unmounted "$M"

# Until then a signal would run the trap of this script in it.
executed() { # PROCESS
	local own comm
	read -r own </proc/$$/comm
	while read -r comm <"/proc/$1/comm" && [ "$comm" = "$own" ]; do
		:
	done
} 2>/dev/null
pause() { sleep "0.0$(printf %02d $((RANDOM % 60)))"; }

# Who waits for it is killed: nobody wants it.
for signal in TERM INT KILL; do
	for ((i = 0; i < ROUNDS; i++)); do
		env --default-signal "$ZRECORDFS" "$slow" "$M" &
		executed $!
		pause
		kill -$signal $! 2>/dev/null
		wait $! 2>/dev/null
		settled "parent killed by $signal"
	done
done 2>/dev/null

# It is told to end itself; in the foreground no one else is there.
for signal in TERM INT HUP; do
	for ((i = 0; i < ROUNDS; i++)); do
		env --default-signal "$ZRECORDFS" -f "$slow" "$M" \
			2>"$WORK/err" &
		executed $!
		pause
		kill -$signal $! 2>/dev/null
		wait $! 2>/dev/null
		mounted "$M" && fail "foreground, $signal: mounted"
		settled "foreground, $signal"
	done
done

# The driver is killed: until it works, its mount goes; then it stays, for
# whoever works in it to see.
for ((i = 0; i < ROUNDS; i++)); do
	"$ZRECORDFS" "$slow" "$M" 2>"$WORK/err" &
	parent=$!
	pause
	pkill -KILL -P $parent -x zrecordfs
	wait $parent
	if [ $? -eq 0 ]; then
		# Killed when it worked; or not at all, as it was not there yet.
		sleep 0.1
		no_driver "$M" && fusermount3 -uzq "$M"
	fi
	settled "driver killed"
done 2>/dev/null

# What the caller has open: the end of a pipe, a lock, a file of another disk.
end=$( (
	exec 7>&1
	exec "$ZRECORDFS" "$C" "$M" >/dev/null 9>"$WORK/lock"
) | timeout 5 cat
	echo "${PIPESTATUS[1]}")
[ "$end" = 0 ] || fail "a pipe of the caller is held: $end"
for fd in "/proc/$(drivers "$M")/fd"/*; do
	case $(readlink "$fd") in
	"$WORK/lock") fail "a file of the caller is held" ;;
	esac
done
unmounted "$M"
# But what it is told to use, it uses; and the foreground keeps what it got.
(exec 8<"$C" 9<"$M" && exec "$ZRECORDFS" /dev/fd/8 /proc/self/fd/9) ||
	fail "paths of descriptors"
cmp -s "$M/records/3.npy" "$M/records/000003.npy" || fail "/dev/fd/8: read"
fusermount3 -u "$M"
wait_until no_driver /dev/fd/8 || fail "/dev/fd/8: stays"
"$ZRECORDFS" -f "$C" "$M" 9>"$WORK/lock" &
wait_until mounted "$M" || fail foreground
[ "$(readlink /proc/$!/fd/9)" = "$WORK/lock" ] || fail "-f closes what it got"
unmounted "$M"

# With few descriptors it works or says so.
for n in 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	(ulimit -n $n && exec "$ZRECORDFS" "$C" "$M") 2>"$WORK/err"
	case $? in
	0) unmounted "$M" ;;
	*) grep -q "Too many open files" "$WORK/err" ||
		fail "$n descriptors: $(cat "$WORK/err")" ;;
	esac
	settled "$n descriptors"
done
# A folder that is gone is no matter to it.
(mkdir "$WORK/gone" && cd "$WORK/gone" && rmdir "$WORK/gone" &&
	exec "$ZRECORDFS" "$C" "$M") || fail "the current folder is gone"
unmounted "$M"

if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
	echo "skipped in part: needs root and namespaces"
	exit 0
fi

# Without /proc and /sys, as in a bare chroot.
cat >"$WORK/bare.sh" <<'E'
mount --make-rprivate / && umount -l /sys && umount -l /proc || exit 77
"$1" "$2" "$3" || exit 10
cmp "$3/records/3.npy" "$3/records/000003.npy" || exit 11
"$1" "$2" "$3" 2>/dev/null && exit 12
umount "$3" || exit 13
"$1" -f "$2" "$3" &
driver=$!
for i in $(seq 500); do
	[ -s "$3/info.json" ] && break
	sleep 0.01
done
exec 8<"$3/records/000003.npy"
kill -TERM $driver
for i in $(seq 500); do
	[ -e "$3/info.json" ] || break
	sleep 0.01
done
[ -e "$3/info.json" ] && exit 14
cat <&8 >/dev/null || exit 15
exec 8<&-
wait $driver || exit 16
"$1" "$2" "$3" || exit 17
fusermount3 -uz "$3" || exit 21
# What cannot be done is said, and why.
"$1" -o readahead_kb=1024 "$2" "$3" 2>"$4" || exit 18
grep -q "readahead_kb.*/sys" "$4" || exit 19
umount "$3"
E
unshare -m --propagation unchanged bash "$WORK/bare.sh" "$ZRECORDFS" "$C" "$M" \
	"$WORK/err"
rc=$?
[ $rc -eq 0 ] || fail "without /proc and /sys: step $rc: $(cat "$WORK/err")"
wait_until nobody "$M" || fail "without /proc: a process is left"

# An image without libgcc_s, which the C library loads to end a thread.
: >"$WORK/empty"
cat >"$WORK/libgcc.sh" <<'E'
mount --make-rprivate /
for lib in $(ldconfig -p | awk '/libgcc_s.so.1/ { print $NF }'); do
	mount --bind "$4" "$lib"
done
for options in "-o threads=4" "-s" "-o sandbox=off,threads=4"; do
	"$1" $options "$2" "$3" || exit 10
	cat "$3"/records/* >/dev/null || exit 11
	fusermount3 -u "$3" || exit 12
done
E
unshare -m bash "$WORK/libgcc.sh" "$ZRECORDFS" "$C" "$M" "$WORK/empty" ||
	fail "without libgcc_s: step $?"
wait_until nobody "$M" || fail "without libgcc_s: a process is left"
true
