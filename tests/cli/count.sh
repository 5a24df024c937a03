# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What the longer cases share: files made without numpy, and checks that count
# and go on, so that one run tells all that is wrong. Ends with `finish`.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PYTHON=${PYTHON:-python3} DATA=${DATA:-$here/../data}
. "$here/lib.sh"
work=$WORK
failures=0

make() {
	"$PYTHON" "$here/make.py" "$@" || {
		echo "make.py $* failed"
		exit 1
	}
}

failed() {
	echo "failed: $*"
	failures=$((failures + 1))
}

skip() {
	echo "$*"
	exit 77
}

finish() {
	[ "$failures" = 0 ]
	exit
}

# done_well CMD...: CMD must exit with 0 and be quiet (lib.sh). What it
# prints is in $work/.out.
done_well() {
	"$@" >"$work/.out" 2>"$work/.err" </dev/null
	local status=$?

	if [ $status != 0 ] || ! quiet "$work/.err" "$@"; then
		failed "$*: exit status $status: $(head -c 600 "$work/.err")"
		return 1
	fi
}

# refused STATUS PATTERN CMD...: CMD must exit with STATUS and say one line on
# stderr that begins with the name of the program and matches the PATTERN.
refused() {
	local want=$1 pattern=$2 status
	shift 2

	"$@" >"$work/.out" 2>"$work/.err" </dev/null
	status=$?
	if [ $status != "$want" ]; then
		failed "$*: exit status $status, expected $want:" \
			"$(head -c 600 "$work/.err")"
	elif [ "$(wc -l <"$work/.err")" != 1 ]; then
		failed "$*: expected one line: $(head -c 600 "$work/.err")"
	elif ! grep -q '^zrecord' "$work/.err"; then
		failed "$*: no name in front: $(cat "$work/.err")"
	elif ! grep -Eq -- "$pattern" "$work/.err"; then
		failed "$*: does not say '$pattern': $(cat "$work/.err")"
	else
		return 0
	fi
	return 1
}

# same WHAT A B: two files or folders are equal, byte for byte.
same() {
	diff -r "$2" "$3" >"$work/.diff" 2>&1 ||
		failed "$1: $(head -n 3 "$work/.diff")"
}

# says WHAT TEXT: the last command printed exactly this.
says() {
	[ "$(cat "$work/.out")" = "$2" ] ||
		failed "$1: printed '$(head -c 300 "$work/.out")'," \
			"expected '$2'"
}

# nothing_left [FOLDER]: no unfinished output lies there.
nothing_left() {
	local found

	found=$(find "${1:-.}" -name '*.zrtmp' -o -name '.*.??????' | head -n 3)
	[ -z "$found" ] || failed "left behind: $found"
}

# field C KEY: a value of `info --json`.
field() {
	"$ZRECORD" info --json "$1" | "$PYTHON" -c '
import json, sys
v = json.load(sys.stdin)[sys.argv[1]]
print(json.dumps(v) if not isinstance(v, str) else v)' "$2"
}

# has C KEY VALUE
has() {
	local found

	found=$(field "$1" "$2")
	[ "$found" = "$3" ] || failed "$1: $2 is $found, expected $3"
}
