#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Ordinary tools see an ordinary tree.
. "$(dirname "$0")/lib.sh"

for name in dense_big_record_zstd dense_f4_raw ragged_images_u1_zstd; do
	"$ZRECORDFS" "$GOLDEN/$name" "$M" || fail "mount $name"
	cp -r "$M" "$WORK/copy" || fail cp
	# stats.json counts requests, so it is another one after the copy; it
	# must be of the same length, as a file that tar copies.
	[ "$(stat -c %s "$M/stats.json")" -eq "$(stat -c %s "$WORK/copy/stats.json")" ] ||
		fail "stats.json has another length"
	diff -r -x stats.json "$M" "$WORK/copy" || fail "copy differs"
	tar -C "$M" -cf "$WORK/all.tar" . 2>"$WORK/err" || fail tar
	[ ! -s "$WORK/err" ] || fail "tar says $(cat "$WORK/err")"
	tar -C "$M" --exclude=./stats.json -df "$WORK/all.tar" || fail "tar --compare"
	cp -a "$M/records" "$WORK/kept" || fail "cp -a"
	cmp "$M/records/000001.npy" "$WORK/kept/000001.npy" || fail cmp
	[ "$(stat -c %Y "$WORK/kept/000001.npy")" = \
		"$(stat -c %Y "$GOLDEN/$name/meta.zr")" ] || fail "time kept"
	chmod -R u+w "$WORK/copy" "$WORK/kept"
	rm -rf "$WORK/copy" "$WORK/kept"

	n=$(find "$M/records" -name '*.npy' -type f | wc -l)
	[ "$n" -eq "$(find "$M/records" -type f -size +0 | wc -l)" ] ||
		fail "find -size"
	[ "$n" -eq "$(($(ls -f "$M/records" | wc -l) - 2))" ] || fail "ls -f"
	[ "$n" -eq "$(ls "$M/records" | wc -l)" ] || fail ls
	[ "$n" -eq "$(find "$M/records" -perm 444 -links 1 -name '0*' \
		-printf '%f\n' | sort -c && ls "$M/records" | wc -l)" ] ||
		fail "order of names"
	[ "$(find "$M" -type d -perm 555 | wc -l)" -eq 6 ] || fail "folders"
	sum=$(find "$M/records" -name '*.npy' -printf '%s\n' |
		awk '{ s += $1 } END { print s }')
	[ "$(du -s --apparent-size -B1 "$M/records" | cut -f1)" -eq "$sum" ] ||
		fail "du --apparent-size"
	[ "$(du -s -B1 "$M/records" | cut -f1)" -ge "$sum" ] || fail du
	cat "$M"/records/*.npy | wc -c | grep -qx "$sum" || fail cat
	dd if="$M/records/000000.npy" bs=1 skip=1 count=5 status=none |
		grep -q NUMPY || fail dd
	df "$M" | grep -q 100% || fail df
	head -c 6 "$M/records/000002.npy" | tail -c 5 | grep -q NUMPY ||
		fail head
	[ "$(stat -f -c %T "$M")" = fuseblk ] || [ "$(stat -f -c %T "$M")" = \
		fuse ] || fail "stat -f: $(stat -f -c %T "$M")"
	rm -f "$WORK/all.tar"
	unmounted "$M"
done
