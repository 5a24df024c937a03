# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# What the shell tests of the mount share: a folder of its own, a mount point
# in it, and taking both down whatever happens.
set -u
WORK=$(mktemp -d "${TMPDIR:-/tmp}/zrmount.XXXXXX")
M=$WORK/m
mkdir "$M"
GOLDEN=$DATA/golden

cleanup() {
	for m in "$M" "$WORK"/*/; do
		fusermount3 -uzq "$m" 2>/dev/null
	done
	[ -z "${HOLDER-}" ] || kill "$HOLDER" 2>/dev/null
	rm -rf "$WORK"
}
trap cleanup EXIT

fail() {
	echo "FAIL $*"
	exit 1
}

# Asks the kernel, not the mount: that may hang.
mounted() { # POINT
	awk -v m="$1" '$5 == m { found = 1 } END { exit !found }' \
		/proc/self/mountinfo
}

drivers() { # POINT: prints their process ids
	local pid
	for pid in $(pgrep -x zrecordfs); do
		tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" |
			grep -qxF "$ZRECORDFS" || continue
		tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" |
			grep -qxF "$1" || continue
		grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null ||
			echo "$pid"
	done
}

wait_until() { # COMMAND...
	local i
	for ((i = 0; i < 1000; i++)); do
		"$@" && return
		sleep 0.02
	done
	return 1
}

no_driver() { [ -z "$(drivers "$1")" ]; }
not() { ! "$@"; }

unmounted() { # POINT: unmount, and wait until nothing is left
	fusermount3 -u "$1" || fail "cannot unmount $1"
	wait_until no_driver "$1" || fail "the driver of $1 stays"
}
