#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# recover: what a dead writer left, and what damage left.
. "$(dirname "$0")/lib.sh"

works "$ZRECORD" recover "$BAD/unpublished" r
same "r: 23 records whole, 0 not"
works "$ZRECORD" export r e
works "$ZRECORD" export "$GOLDEN/dense_f4_raw" want
diff -r e want >/dev/null || fail "other records than were written"
rm -rf r e want

for kind in dense_dict ragged_tokens_i4_zstd; do
	# A writer that died: the header still says 0 records, and one entry
	# was never written.
	cp -r "$GOLDEN/$kind" dead
	chmod -R u+w dead
	head -c 16 /dev/zero | dd of=dead/meta.zr conv=notrunc status=none
	head -c 16 /dev/zero | dd of=dead/meta.zr bs=16 seek=$((256 + 5)) \
		conv=notrunc status=none
	refuses 1 "zrecord recover" "$ZRECORD" verify dead
	refuses 1 "zrecord recover" "$ZRECORD" cat dead 0
	works "$ZRECORD" recover dead r
	n=$("$ZRECORD" ls "$GOLDEN/$kind" | wc -l)
	same "r: $((n - 1)) records whole, 1 not"
	works "$ZRECORD" verify r
	works "$ZRECORD" cat --as npy r :
	mv out got
	"$ZRECORD" cat --as npy "$GOLDEN/$kind" 0:5,6: >out
	cmp -s got out || fail "$kind: other records than were written"
	rm -rf dead r got
done

"$ZRECORD" recover "$BAD/zstd_flip" r >out 2>err || fail "damaged: $?"
same "r: 22 records whole, 1 not"
grep -q "record 4: " err || fail "the lost record is not told: $(cat err)"
refuses 1 "exists" "$ZRECORD" recover "$BAD/zstd_flip" r
rm -rf r

# Cut, or with a table that was cut.
works "$ZRECORD" recode "$GOLDEN/dense_f4_raw" cut
truncate -s 1000 cut/data.zr
"$ZRECORD" recover cut r >out 2>err || fail "cut data: $? $(cat err)"
same "r: 4 records whole, 19 not"
rm -rf r cut
works "$ZRECORD" recode "$GOLDEN/dense_f4_raw" cut
truncate -s $((4096 + 16 * 7 + 3)) cut/meta.zr
"$ZRECORD" recover cut r >out 2>err || fail "cut table: $? $(cat err)"
same "r: 7 records whole, 0 not"
rm -rf r
truncate -s 4096 cut/meta.zr
refuses 1 "no record of it is whole" "$ZRECORD" recover cut r
# A raw record with other bytes is lost if there is a checksum, and only then.
rm -rf cut
works "$ZRECORD" recode "$GOLDEN/dense_f4_raw" cut
printf x | dd of=cut/data.zr bs=1 seek=500 conv=notrunc status=none
refuses 1 "wrong checksum" "$ZRECORD" recode --no-checksums cut r
"$ZRECORD" recover cut r >out 2>err || fail "checksum: $?"
same "r: 22 records whole, 1 not"
rm -rf r
works "$ZRECORD" recover --no-checksums cut r
same "r: 23 records whole, 0 not"
rm -rf r cut

# A build that is alive is busy, not damaged.
mkfifo pipe
(printf '\x93NUMPY\x01\x00\x76\x00'
 printf "%-117s\n" "{'descr': '|u1', 'fortran_order': False, 'shape': (100, 100), }"
 head -c 500 /dev/zero; exec sleep 30) >pipe &
feed=$!
"$ZRECORD" create c - <pipe 2>/dev/null &
build=$!
for ((i = 0; i < 500; i++)); do
	live=$(find . -name '*.zrtmp' -prune)
	[ -n "$live" ] && [ -s "$live/meta.zr" ] && break
	sleep 0.02
done
refuses 1 "busy" "$ZRECORD" recover "$live" r
refuses 1 "busy" "$ZRECORD" info "$live"
kill $build
wait $build 2>/dev/null
kill $feed
wait $feed 2>/dev/null
only pipe
