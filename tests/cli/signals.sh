#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A signal ends create, recode and export without leaving anything behind.
. "$(dirname "$0")/count.sh"

# A stream that never ends, as far as anyone will wait.
cat >endless.py <<'P'
import sys, time
text = b"{'descr': '|u1', 'fortran_order': False, 'shape': (60000, 100000), }"
out = sys.stdout.buffer
out.write(b"\x93NUMPY\x01\x00\x76\x00" + text.ljust(117) + b"\n")
try:
    for i in range(60000):
        out.write(bytes(100000))
        out.flush()
        time.sleep(0.002)
except BrokenPipeError:
    pass
P
# ended STATUS PID: waits, at most 10 s.
ended() {
	local status

	for _ in $(seq 200); do
		kill -0 "$2" 2>/dev/null || break
		sleep 0.05
	done
	if kill -0 "$2" 2>/dev/null; then
		failed "still runs 10 s after its signal"
		kill -9 "$2"
	fi
	wait "$2" 2>/dev/null
	status=$?
	[ $status = "$1" ] || failed "exit status $status, expected $1"
}
started() {
	for _ in $(seq 200); do
		[ -n "$(find . -name '*.zrtmp' -o -name '.*.??????')" ] && return
		sleep 0.02
	done
	failed "$1: nothing began"
}

n=0
for signal in TERM:143 INT:130 HUP:129; do
	n=$((n + 1))
	mkfifo pipe
	"$PYTHON" endless.py >pipe &
	feeder=$!
	# A shell ignores INT in what it starts in the background.
	"$PYTHON" -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$ZRECORD" create c.zr - <pipe 2>.err &
	pid=$!
	started "create"
	sleep 0.2
	kill -${signal%:*} $pid
	ended ${signal#*:} $pid
	kill $feeder 2>/dev/null
	wait $feeder 2>/dev/null
	rm pipe
	[ ! -e c.zr ] || failed "${signal%:*} left c.zr"
	nothing_left
	[ "$(wc -l <.err)" -le 1 ] || failed "${signal%:*}: $(cat .err)"
done 2>/dev/null

# A stream that stops: before its first byte, and after some records.
make npy part.npy '|u1' 5,3000000
for bytes in 0 64 128 10000000; do
	mkfifo pipe
	(head -c $bytes part.npy && exec sleep 30) >pipe &
	feeder=$!
	"$ZRECORD" create c.zr - <pipe 2>.err &
	pid=$!
	sleep 0.5
	kill -TERM $pid
	ended 143 $pid
	kill $feeder
	wait $feeder 2>/dev/null
	rm pipe
done
[ ! -e c.zr ] || failed "waiting left c.zr"
nothing_left

# export and recode of enough to be caught in.
"$PYTHON" - <<'P'
text = b"{'descr': '|u1', 'fortran_order': False, 'shape': (60000, 4000), }"
with open("a.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\x00\x76\x00" + text.ljust(117) + b"\n")
    for i in range(60000):
        f.write((b"%d," % i * 2000)[:4000])
P
done_well "$ZRECORD" create a.zr a.npy
for cmd in "recode --codec zstd --level 19 -j 1 a.zr" "export --as dir a.zr" \
	"export --as npz a.zr"; do
	"$ZRECORD" $cmd out 2>.err &
	pid=$!
	started "$cmd"
	kill -TERM $pid
	# One that was done before is no failure of this case.
	wait $pid 2>/dev/null
	status=$?
	if [ $status = 143 ]; then
		[ ! -e out ] || failed "$cmd left out"
	else
		[ $status = 0 ] && [ -e out ] || failed "$cmd: status $status"
	fi
	nothing_left
	rm -rf out
done
finish
