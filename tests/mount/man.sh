#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The manual page and --help tell the same options, and neither has faults.
. "$(dirname "$0")/lib.sh"
PAGE=$TOP/docs/man/zrecordfs.1
help=$("$ZRECORDFS" --help) || fail "--help"
options=$(grep -o -- '-o [a-z_,=A-Z]*' <<<"$help" | cut -c4- | tr ',' '\n' |
	sed 's/=.*//' | grep '^[a-z]' | sort -u)
[ "$(wc -w <<<"$options")" -gt 10 ] || fail "options: $options"
for o in $options; do
	grep -q "[ ,\\\\]$o\b" "$PAGE" || fail "the page does not have -o $o"
done
for c in f d s h V; do
	grep -q -- "\\\\-$c" "$PAGE" || fail "the page does not have -$c"
done
awk 'length > 80 { exit 1 }' <<<"$help" || fail "--help is too wide"
# A stripped machine has a man that only says so.
if ! man --version 2>/dev/null | grep -q '^man '; then
	echo "skipped: no man here to check the page with"
	exit 77
fi
faults=$(LC_ALL=C.UTF-8 MANWIDTH=80 man -l --warnings "$PAGE" 2>&1 >/dev/null)
[ -z "$faults" ] || fail "$faults"
true
