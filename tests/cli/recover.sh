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
	"$ZRECORD" recover dead r >out 2>err || fail "$kind: $(cat err)"
	grep -q "record 5: .* found 0" err || fail "$kind: $(cat err)"
	grep -q "recode --select 0:5,6:[0-9]* " err || fail "$kind: $(cat err)"
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
sed -n 1p err | grep -q "cut/data.zr: record 4: the file ends before it does: expected at least 1200 bytes, found 1000" &&
	sed -n 3p err | grep -q "19 records are lost, the first 4, the last 22" &&
	sed -n 4p err | grep -q "r: .*recode --select 0:4 " ||
	fail "cut data: $(cat err)"
rm -rf r
truncate -s 0 cut/data.zr
refuses 1 "^zrecord: cut/data.zr: record 0: the file ends .*; no record of it is whole$" \
	"$ZRECORD" recover cut r
# An entry that ends past what the header counts is at fault itself.
works "$ZRECORD" recode --no-checksums "$GOLDEN/dense_f4_raw" entry
truncate -s 5000 entry/data.zr
printf '\377\377' | dd of=entry/meta.zr bs=1 seek=4096 conv=notrunc status=none
"$ZRECORD" recover entry r >out 2>err || fail "entry: $? $(cat err)"
sed -n 1p err | grep -q "entry: record 0: its entry in meta.zr is damaged" &&
	sed -n 2p err | grep -q "entry/data.zr: record 22: the file ends" ||
	fail "entry: $(cat err)"
rm -rf r cut entry
# Cut where no record is.
works "$ZRECORD" recode --no-checksums "$GOLDEN/dense_f4_raw" cut
"$PYTHON" - <<'P'
with open("cut/meta.zr", "r+b") as f:
    f.seek(8)
    tail = int.from_bytes(f.read(8), "little")
    f.seek(8)
    f.write((tail + 100).to_bytes(8, "little"))
P
"$ZRECORD" recover cut r >out 2>err || fail "cut behind: $? $(cat err)"
same "r: 23 records whole, 0 not"
grep -q "no record was in those that are missing" err ||
	fail "cut behind: $(cat err)"
grep -q "zrecord recover" err && fail "recover names itself: $(cat err)"
rm -rf r cut
works "$ZRECORD" recode "$GOLDEN/dense_f4_raw" cut
truncate -s $((4096 + 16 * 7 + 3)) cut/meta.zr
"$ZRECORD" recover cut r >out 2>err || fail "cut table: $? $(cat err)"
same "r: 7 records whole, 16 not"
[ "$(wc -l <err)" -eq 3 ] &&
	sed -n 1p err | grep -q "cut: record 7: meta.zr ends before its entry: expected entries of 23 records, found 7" &&
	sed -n 2p err | grep -q "cut: 16 records are lost, the first 7, the last 22" &&
	sed -n 3p err | grep -q "r: .*recode --select 0:7 " ||
	fail "cut table: $(cat err)"
grep -q "zrecord recover" err && fail "recover names itself: $(cat err)"
rm -rf r
"$ZRECORD" recover --json cut r >out 2>err || fail "cut table: $? $(cat err)"
same '{"path": "r", "records": 7, "lost_records": 16, "kept": "0:7", "lost": "7:23"}'
rm -rf r
# With data that is cut as well, and with one entry lost.
cp -r cut both
truncate -s 1000 both/data.zr
"$ZRECORD" recover --json both r >out 2>err || fail "cut both: $? $(cat err)"
same '{"path": "r", "records": 4, "lost_records": 19, "kept": "0:4", "lost": "4:23"}'
rm -rf r both
truncate -s 4096 cut/meta.zr
refuses 1 "^zrecord: cut: record 0: meta.zr ends .*; no record of it is whole$" \
	"$ZRECORD" recover cut r
rm -rf cut
works "$ZRECORD" recode "$GOLDEN/dense_f4_raw" cut
truncate -s $((4096 + 16 * 22)) cut/meta.zr
"$ZRECORD" recover cut r >out 2>err || fail "cut entry: $? $(cat err)"
same "r: 22 records whole, 1 not"
[ "$(wc -l <err)" -eq 2 ] || fail "cut entry: $(cat err)"
rm -rf r cut
# A count that no file has takes no longer, and is told.
works "$ZRECORD" recode --no-checksums "$GOLDEN/dense_f4_raw" cut
printf '\0\0\0\0\0\0\0\020' | dd of=cut/meta.zr conv=notrunc status=none
timeout 20 "$ZRECORD" recover --json cut r >out 2>err || fail "count: $(cat err)"
same '{"path": "r", "records": 23, "lost_records": 1152921504606846953, "kept": "0:23", "lost": "23:1152921504606846976"}'
rm -rf r
# A raw record with other bytes is lost if there is a checksum, and only then.
rm -rf cut
works "$ZRECORD" recode "$GOLDEN/dense_f4_raw" cut
printf x | dd of=cut/data.zr bs=1 seek=500 conv=notrunc status=none
refuses 1 "wrong checksum" "$ZRECORD" recode --no-checksums cut r
"$ZRECORD" recover cut r >out 2>err || fail "checksum: $?"
same "r: 22 records whole, 1 not"
rm -rf r
works "$ZRECORD" recover --no-checksums cut r
same "r: 23 records whole, 0 not; the source can be read"
rm -rf r cut

# Of many lost records the first, the last and their number; as JSON all.
works "$ZRECORD" recode --no-checksums "$GOLDEN/dense_f4_raw" cut
head -c 64 /dev/zero | dd of=cut/meta.zr bs=16 seek=$((256 + 3)) \
	conv=notrunc status=none
head -c 32 /dev/zero | dd of=cut/meta.zr bs=16 seek=$((256 + 20)) \
	conv=notrunc status=none
"$ZRECORD" recover cut r >out 2>err || fail "lost: $(cat err)"
same "r: 17 records whole, 6 not"
[ "$(wc -l <err)" -eq 4 ] || fail "lost: $(cat err)"
sed -n 1p err | grep -q "record 3: " && sed -n 2p err | grep -q "record 21: " &&
	sed -n 3p err | grep -q "cut: 6 records are lost, the first 3, the last 21" ||
	fail "lost: $(cat err)"
rm -rf r
"$ZRECORD" recover --json cut r >out 2>err || fail "lost, as JSON: $(cat err)"
same '{"path": "r", "records": 17, "lost_records": 6, "kept": "0:3,7:20,22", "lost": "3:7,20:22"}'
# A container of labels loses the same ones, by the selection that was told.
for select in 0:3,7:20,22 @kept; do
	echo 0:3,7:20,22 >kept
	works "$ZRECORD" recode --select $select "$GOLDEN/dense_f4_raw" labels
	"$ZRECORD" cat labels : >got && "$ZRECORD" cat r : >want
	cmp -s got want || fail "recode --select $select: other records"
	rm -rf labels
done
works "$ZRECORD" recode --codec zstd_dict --tier fast --ragged --select ::-1 "$GOLDEN/dense_f4_raw" labels
"$ZRECORD" cat labels ::-1 >got && "$ZRECORD" cat "$GOLDEN/dense_f4_raw" : >want
cmp -s got want || fail "recode --select ::-1: other records"
refuses 2 "select" "$ZRECORD" create --select 0 c "$GOLDEN/dense_f4_raw"
refuses 1 "none: No such file" "$ZRECORD" recode --select @none cut c
rm -rf r cut labels got want kept
# Nothing is lost, or there is nothing.
works "$ZRECORD" recode "$GOLDEN/dense_f4_raw" good
works "$ZRECORD" recover good r
same "r: 23 records whole, 0 not; the source is good"
rm -rf r good
: >none
works "$ZRECORD" create e --lines none
works "$ZRECORD" recover e r
same "r: 0 records whole, 0 not; the source is good"
works "$ZRECORD" verify r
rm -rf e r none

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
