# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# What the tests of the command share: a folder of their own, and ways to say
# what a command must do.
set -u
WORK=$(mktemp -d "${TMPDIR:-/tmp}/zrcli.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
GOLDEN=$DATA/golden
BAD=$DATA/bad
cd "$WORK" || exit 1

fail() {
	echo "FAIL $*"
	exit 1
}

# quiet FILE COMMAND...: stderr, in FILE, is empty; of create, recode and export
# it is the one line that says what was made, which is taken off it.
quiet() {
	local err=$1
	shift
	case "$* " in
	*" -q "* | *" --help "* | *zrecord" export "*" - ") ;;
	*zrecord" create "* | *zrecord" recode "*)
		[ "$(wc -l <"$err")" -eq 1 ] || return 1
		sed -i -E '/^[^:]*: [0-9]+ records?, (dense|ragged) /d' "$err"
		;;
	*zrecord" export "*)
		[ "$(wc -l <"$err")" -eq 1 ] || return 1
		sed -i -E '/^[^:]*: (one \.np[yz] of|a directory of) [0-9]+ /d' "$err"
		;;
	esac
	[ ! -s "$err" ]
}

# works COMMAND...: status 0, quiet. Its stdout is in ./out.
works() {
	"$@" >out 2>err </dev/null || fail "$*: status $?: $(cat err)"
	quiet err "$@" || fail "$*: stderr: $(cat err)"
}

# refuses STATUS TEXT COMMAND...: that status, and one line with TEXT.
refuses() {
	local status=$1 text=$2
	shift 2
	"$@" >out 2>err </dev/null
	local rc=$?
	[ $rc -eq "$status" ] || fail "$*: status $rc, not $status: $(cat err)"
	[ "$(wc -l <err)" -eq 1 ] || fail "$*: not one line: $(cat err)"
	grep -q -- "$text" err || fail "$*: says $(cat err)"
}

# same TEXT: what the last command printed.
same() {
	[ "$(cat out)" = "$1" ] || fail "printed '$(cat out)', not '$1'"
}

need_numpy() {
	"$PYTHON" -c 'import numpy' 2>/dev/null || {
		echo "no numpy for $PYTHON"
		exit 77
	}
}

only() { # NAME...: these, in order, and nothing else are in the folder
	local left
	left=$(find . -mindepth 1 -maxdepth 1 ! -name out ! -name err \
		-printf '%f\n' | sort | paste -sd ' ')
	[ "$left" = "$*" ] || fail "left behind: $left"
}
