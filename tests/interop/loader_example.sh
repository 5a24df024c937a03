#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# docs/examples/train.c is built from an installed package, as its head says,
# trains, and goes on where it stopped with another number of ranks; and the
# manual page has every function of the header.
set -eu
fail() { echo "$*" >&2; exit 1; }

# Where the driver is not built it is not asked for.
part=$([ -x "$BUILD/zrecordfs" ] || echo fs_c=)
make -s -C "$TOP" B="$BUILD" $part PREFIX="$PWD/usr" LIBDIR="$PWD/usr/lib" \
	install >/dev/null || fail "make install"
export PKG_CONFIG_PATH=$PWD/usr/lib/pkgconfig LD_LIBRARY_PATH=$PWD/usr/lib
cp "$TOP/docs/examples/train.c" .
${CC:-cc} -std=c11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE train.c \
	$(pkg-config --cflags --libs libzloader) -lm -o train ||
	fail "train.c does not build against the installed package"

"$ZRECORD" create images.zr "$DATA/demo/digits.npy"
"$ZRECORD" create labels.zr "$DATA/demo/labels.npy"

# 150 steps alone, and 120 from there on three ranks; rank 0 comes last, as it
# saves the state that the others begin with.
./train images.zr labels.zr 150 run.state >one || fail "does not train"
grep -q '^rank 0 step 100 ' one || fail "$(cat one)"
grep -q '^delivered   150 batches' one || fail "$(cat one)"
for r in 1 2 0; do
	RANK=$r WORLD_SIZE=3 ./train images.zr labels.zr 120 run.state >r$r ||
		fail "rank $r does not go on"
	grep -q "^rank $r step 150 " r$r || fail "$(cat r$r)"
	grep -q "^rank $r step 250 " r$r || fail "$(cat r$r)"
done
./train images.zr labels.zr 1 run.state >two || fail "does not go on alone"
grep -q '^rank 0 step 270 ' two || fail "not at step 270: $(cat two)"
[ ! -e run.state.part ] || fail "left run.state.part"
RANK=0 ./train images.zr labels.zr 1 2>err && fail "half a pair of variables"
grep -q WORLD_SIZE err || fail "$(cat err)"

# The error falls: what comes in step belongs together.
error() { sed -n "s/^rank 0 step $1 .* error //p" "$2"; }
./train images.zr labels.zr 2001 >long
awk -v a="$(error 0 long)" -v b="$(error 2000 long)" 'BEGIN { exit !(b < a) }' ||
	fail "it does not learn: $(cat long)"

# What goes wrong is told in a line.
"$ZRECORD" recode --codec zstd images.zr zstd.zr
./train zstd.zr labels.zr 10 run.state 2>err && fail "a state of other containers"
grep -q 'other containers' err || fail "$(cat err)"
./train labels.zr images.zr 10 2>err && fail "labels for images"
[ "$(wc -l <err)" = 1 ] || fail "$(cat err)"

page=$TOP/docs/man/libzloader.3
for f in $(grep -o '\bzl_[a-z_]*(' "$TOP/loader/zloader.h" | tr -d '(' | sort -u); do
	grep -q "\b$f\b" "$page" || fail "the manual page does not have $f"
done
# Its example is a program.
sed -n '/^.SH EXAMPLE/,/^.fi/p' "$page" | sed '1,2d;$d;s/\\-/-/g;s/\\e/\\/g' >first.c
${CC:-cc} -std=c11 -Wall -Wextra -Werror first.c \
	$(pkg-config --cflags --libs libzloader) -o first || fail "the example of the page"
[ "$(./first images.zr | grep -c '^64 records')" = 97 ] || fail "$(./first images.zr)"
if man --version 2>/dev/null | grep -q '^man '; then
	faults=$(LC_ALL=C.UTF-8 MANWIDTH=80 man -l --warnings "$page" 2>&1 >/dev/null)
	[ -z "$faults" ] || fail "$faults"
fi
echo fine
