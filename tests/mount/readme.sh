#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The commands of README.md's tour work as written.
set -eu
if nm "$BUILD/libzrecord.a" 2>/dev/null | grep -q __asan_init; then
	echo "README links a library without sanitizers"
	exit 77
fi
mkdir -p tree && cd tree
for name in tests engine docs; do
	ln -s "$TOP/$name" "$name"
done
ln -s "$BUILD" build

part() { # LANGUAGE
	sed -n '/^## A tour/,/^## Install/p' "$TOP/README.md" |
		sed -n '/^```'"$1"'$/,/^```$/p' | grep -v '^```'
}
part c >three.c
part sh >tour.sh
[ -s three.c ]
[ "$(wc -l <tour.sh)" -gt 20 ]
if ! sh -eux tour.sh >out 2>err; then
	cat out err
	fusermount3 -uz digits 2>/dev/null || :
	exit 1
fi
grep -q '^192 bytes of |u1$' out
