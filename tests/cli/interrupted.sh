#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What a signal, a kill or a full disk leaves of a build: nothing that could
# be taken for a container.
. "$(dirname "$0")/lib.sh"

# A pipe that never ends keeps a build going.
header() {
	printf '\x93NUMPY\x01\x00\x76\x00'
	printf "%-117s\n" \
		"{'descr': '|u1', 'fortran_order': False, 'shape': (1000000000, 100), }"
}
start() { # starts a build in the background: $build
	rm -f pipe
	mkfifo pipe
	(header; head -c 20000000 /dev/zero; exec sleep 60) >pipe &
	feed=$!
	"$ZRECORD" "$@" <pipe 2>err &
	build=$!
	for ((i = 0; i < 500; i++)); do
		[ -n "$(find . -name '*.zrtmp' -prune)" ] && return
		sleep 0.02
	done
	fail "the build does not start: $(cat err)"
}
# Not INT: a shell starts background jobs with that ignored.
for sig in TERM HUP; do
	start create c -
	kill -$sig $build
	wait $build
	rc=$?
	kill $feed 2>/dev/null
	wait $feed 2>/dev/null
	[ $rc -gt 128 ] || fail "$sig: status $rc"
	[ ! -e c ] && [ -z "$(find . -name '*.zrtmp')" ] || fail "$sig: left $(ls -A)"
done
start create c -
kill -KILL $build
wait $build 2>/dev/null
kill $feed 2>/dev/null
wait $feed 2>/dev/null
[ ! -e c ] || fail "a killed build left c"
rm -rf .*.zrtmp pipe

# A limit on the size of files is an error like a full disk.
header | sed 's/1000000000, 100/100000, 100    /' >big.npy
head -c 10000000 /dev/zero >>big.npy
(ulimit -f 2000; exec "$ZRECORD" create c big.npy) >out 2>err
rc=$?
[ $rc -eq 1 ] && grep -q 'File too large' err || fail "ulimit: $rc $(cat err)"
[ ! -e c ] && [ -z "$(find . -name '*.zrtmp')" ] || fail "ulimit: left $(ls -A)"
if [ "$(id -u)" -eq 0 ] && mkdir small && mount -t tmpfs -o size=2m none small 2>/dev/null; then
	refuses 1 "No space left" "$ZRECORD" create small/c big.npy
	left=$(ls -A small)
	umount small
	[ -z "$left" ] || fail "a full disk: left $left"
fi
