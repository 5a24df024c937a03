#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# How a mount ends: by unmounting, by signals, by death; with and without
# readers.
. "$(dirname "$0")/lib.sh"
C=$GOLDEN/dense_big_record_zstd

start() { # OPTION...: mounts in the background, sets PID
	"$ZRECORDFS" "$@" "$C" "$M" || fail "mount"
	PID=$(drivers "$M")
	[ -n "$PID" ] || fail "no driver"
}

sum() { md5sum | cut -c1-32; }

start
want=$(cat "$M/records/000000.npy" "$M/records/000002.npy" | sum)
unmounted "$M"

# Each signal, with one thread and with many, before and after use.
for options in "" -s; do
	for signal in TERM INT HUP; do
		for use in true "cat $M/records/000001.npy"; do
			start $options
			$use >/dev/null || fail "$use"
			kill -$signal "$PID"
			wait_until not mounted "$M" || fail "$signal: mounted"
			wait_until no_driver "$M" || fail "$signal: stays"
		done
	done
done

# In the foreground the exit status is 0.
"$ZRECORDFS" -f "$C" "$M" &
PID=$!
wait_until mounted "$M"
cat "$M/info.json" >/dev/null || fail "foreground: read"
kill -INT $PID
wait $PID || fail "foreground: status $?"

# A file that is open when the signal comes can be read to its end.
for options in "" -s; do
	start $options
	exec 8<"$M/records/000000.npy" 9<"$M/records/000002.npy"
	head -c 100 <&8 >"$WORK/part"
	kill -TERM "$PID"
	wait_until not mounted "$M" || fail "open file: mounted"
	cat <&8 >>"$WORK/part" || fail "open file: read"
	cat <&9 >>"$WORK/part" || fail "open file: read of the second"
	[ "$(sum <"$WORK/part")" = "$want" ] || fail "open file: bytes"
	[ -n "$(drivers "$M")" ] || fail "ended before the file was closed"
	exec 8<&- 9<&-
	wait_until no_driver "$M" || fail "stays after the last close"
done

# A second signal does not wait.
start
exec 8<"$M/records/000000.npy"
kill -TERM "$PID"
wait_until not mounted "$M" || fail "second signal: mounted"
# One at once is taken for the same: programs signal a process and its group.
kill -INT "$PID"
sleep 1
[ -n "$(drivers "$M")" ] || fail "a signal at once: ended"
kill -TERM "$PID"
wait_until no_driver "$M" || fail "second signal: stays"
exec 8<&-

# Unmounting: refused while a file is open, lazily at once.
start
exec 8<"$M/records/000000.npy"
fusermount3 -u "$M" 2>/dev/null && fail "unmounted while open"
fusermount3 -uz "$M" || fail "lazy"
# The mount is no longer ours to unmount: another may be in its place.
"$ZRECORDFS" -o fsname=other "$GOLDEN/dense_f4_raw" "$M" 8<&- ||
	fail "second"
kill -TERM "$PID"
sleep 0.3
grep -q "^other $M " /proc/mounts || fail "took down another's mount"
exec 8<&-
wait_until not kill -0 "$PID" 2>/dev/null || fail "lazy: stays"
unmounted "$M"

# SIGPIPE and reports to nobody do no harm.
start
kill -PIPE "$PID"
cat "$M/info.json" >/dev/null || fail "SIGPIPE"
unmounted "$M"

# A reader that is killed amid a READ leaves nothing behind.
start
for _ in 1 2 3 4 5; do
	cat "$M"/records/* "$M"/all.npy >/dev/null &
	reader=$!
	sleep 0.01
	kill -KILL $reader
	wait $reader 2>/dev/null
done
[ "$(cat "$M/records/000000.npy" "$M/records/000002.npy" | sum)" = "$want" ] ||
	fail "after killed readers"
unmounted "$M"

# A driver that was killed leaves a dead mount; we say so and how to go on.
start
kill -KILL "$PID"
wait_until no_driver "$M"
"$ZRECORDFS" "$C" "$M" 2>"$WORK/err"
[ $? -eq 32 ] || fail "dead mount: status"
grep -q "fusermount3 -u $M .*-o cleanup_stale" "$WORK/err" ||
	fail "dead mount: $(cat "$WORK/err")"
fusermount3 -u "$M" || fail "cannot clear the dead mount"
# Asked to, we clear it: but not what works, and not what another left.
start
kill -KILL "$PID"
wait_until no_driver "$M"
ln -s "$M" "$WORK/way"
"$ZRECORDFS" -o cleanup_stale "$C" "$WORK/way" || fail "cleanup_stale"
cat "$M/info.json" >/dev/null || fail "cleanup_stale: read"
"$ZRECORDFS" -o cleanup_stale "$C" "$M" 2>"$WORK/err"
[ $? -eq 32 ] || fail "a mount that works: status"
grep -q "already mounted" "$WORK/err" || fail "says $(cat "$WORK/err")"
cat "$M/info.json" >/dev/null || fail "a mount that works was taken away"
[ "$(grep -cF " $M fuse" /proc/mounts)" -eq 1 ] || fail "mounted twice"
fusermount3 -u "$M"
wait_until no_driver "$WORK/way" || fail "driver of a link stays"
"$ZRECORDFS" -f -o subtype=other "$C" "$M" &
wait_until mounted "$M" || fail "subtype"
kill -KILL $!
wait $! 2>/dev/null
"$ZRECORDFS" -o cleanup_stale "$C" "$M" 2>"$WORK/err" && fail "of another type"
grep -q "another file system" "$WORK/err" || fail "says $(cat "$WORK/err")"
"$ZRECORDFS" -o cleanup_stale,subtype=other "$C" "$M" || fail "of our subtype"
unmounted "$M"
start
unmounted "$M"

# Many at a time, and one on the other's place.
for i in 1 2 3 4 5 6 7 8; do
	mkdir "$WORK/m$i"
	"$ZRECORDFS" "$C" "$WORK/m$i" &
done
wait
for i in 1 2 3 4 5 6 7 8; do
	[ -s "$WORK/m$i/records/000000.npy" ] || fail "mount $i"
	unmounted "$WORK/m$i"
done

# Covered by another mount, a driver cannot unmount its own: it says so, and the
# next signal tries again. Moved with a directory above it, it is found.
if [ "$(id -u)" -eq 0 ]; then
	start
	first=$PID
	mount -t tmpfs none "$M" || fail "a second mount over the first"
	kill "$first"
	sleep 0.7
	kill -0 "$first" 2>/dev/null || fail "a covered driver is gone"
	umount "$M" || fail "the upper mount"
	[ -s "$M/records/000000.npy" ] || fail "the lower mount does not serve"
	kill "$first"
	wait_until no_driver "$M" || fail "a driver that was covered stays"
	mounted "$M" && fail "its mount stays"

	# If that cannot be done either it ends, and its mount goes as soon as
	# nothing is in the way.
	"$ZRECORDFS" -f "$C" "$M" 2>"$WORK/err" &
	first=$!
	wait_until mounted "$M"
	mount -t tmpfs none "$M" || fail "a second mount over the first"
	kill "$first"
	sleep 0.7
	kill -0 "$first" 2>/dev/null || fail "a covered driver is gone"
	kill "$first"
	wait "$first"
	[ $? -eq 2 ] || fail "a second signal, covered: status"
	[ "$(grep -c "mounted over it" "$WORK/err")" -ge 1 ] ||
		fail "a second signal, covered: $(cat "$WORK/err")"
	umount "$M" || fail "the upper mount"
	wait_until not mounted "$M" || fail "a dead mount that was covered"
	wait_until not pgrep -f "^$ZRECORDFS -f $C $M" >/dev/null ||
		fail "who unmounts stays"

	mkdir -p "$WORK/up/m"
	"$ZRECORDFS" "$C" "$WORK/up/m" || fail "mount below up"
	pid=$(drivers "$WORK/up/m")
	mv "$WORK/up" "$WORK/moved"
	kill "$pid"
	wait_until no_driver "$WORK/up/m" || fail "a moved driver stays"
	mounted "$WORK/moved/m" && fail "a moved mount stays"
fi
true
