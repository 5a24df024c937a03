#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The commands of README.md's tour work as written, typed at the top of a source
# tree, and leave nothing in it.
set -eu
if nm "$BUILD/libzrecord.a" 2>/dev/null | grep -q __asan_init; then
	echo "README links a library without sanitizers"
	exit 77
fi
mkdir tree tmp
for name in tests engine docs; do
	ln -s "$TOP/$name" "tree/$name"
done
ln -s "$BUILD" tree/build

# The shell's blocks, and the one in C saved where the reader is.
sed -n '/^## A tour/,/^## Install/p' "$TOP/README.md" | awk '
	/^```$/ { if (c) print "END_OF_C"; sh = c = 0; next }
	/^```sh$/ { sh = 1; next }
	/^```c$/ { c = 1; print "cat >three.c <<\"END_OF_C\""; next }
	sh || c' >tour.sh
[ "$(wc -l <tour.sh)" -gt 40 ]
grep -q zr_gather_dense tour.sh
if ! (cd tree && TMPDIR=$PWD/../tmp sh -eux ../tour.sh) >out 2>err; then
	cat out err
	fusermount3 -uz tmp/*/digits 2>/dev/null || :
	exit 1
fi
grep -q '^192 bytes of |u1$' out
left=$(find tree tmp -mindepth 1 ! -type l)
[ -z "$left" ] || { echo "the tour leaves $left"; exit 1; }
