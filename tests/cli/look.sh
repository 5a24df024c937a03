#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# info, ls, cat and verify of containers, good and damaged.
. "$(dirname "$0")/lib.sh"
C=$GOLDEN/dense_scalar_i8_raw
R=$GOLDEN/ragged_tokens_i4_zstd

works "$ZRECORD" info "$C"
grep -q '^records *300$' out || fail "info: $(cat out)"
works "$ZRECORD" info --json "$C"
"$PYTHON" -c '
import json
i = json.load(open("out"))
assert i["kind"] == "dense" and i["dtype"] == "<i8", i
assert i["item_shape"] == [] and i["codec"] == "raw", i
assert i["records"] == 300 and i["logical_bytes"] == 2400, i
assert i["stored_bytes"] == 2400 and i["dict_bytes"] == 0, i
assert i["published"] is True and i["checksums"] is False, i
' || fail "info --json"
works "$ZRECORD" info --json "$R"
"$PYTHON" -c 'import json; assert json.load(open("out"))["kind"] == "ragged"' ||
	fail "info --json of a Ragged one"

works "$ZRECORD" ls "$C" 10:12,3
same $'10\n11\n3'
works "$ZRECORD" ls "$C"
[ "$(wc -l <out)" -eq 300 ] || fail "ls lists all"
works "$ZRECORD" ls "$C" 5:5
same ""
works "$ZRECORD" ls -l "$C" 7
grep -qE '^ *7 +8  \(\)$' out || fail "ls -l: $(cat out)"
refuses 1 "record 300: there are 300" "$ZRECORD" cat "$C" 300
grep -q "$C" err || fail "the message does not name the container"

works "$ZRECORD" cat --as raw "$C" 0:2
[ "$(wc -c <out)" -eq 16 ] || fail "cat --as raw"
cmp -s out <(head -c 16 "$C/data.zr") || fail "cat --as raw: bytes"
works "$ZRECORD" cat --as json "$C" 0,1
[ "$(wc -l <out)" -eq 2 ] || fail "cat --as json: a line each"
works "$ZRECORD" cat "$GOLDEN/dense_f4_raw" 0,1
# 3 * 4 lines with 2 empty ones between, twice, and one between records.
[ "$(wc -l <out)" -eq 29 ] || fail "cat: $(wc -l <out) lines"

works "$ZRECORD" verify -j 2 "$C" "$R"
[ "$(grep -c ' 0 damaged, no checksums to compare$' out)" -eq 2 ] || fail "verify: $(cat out)"
refuses 1 "record 4: " "$ZRECORD" verify "$BAD/zstd_flip"
grep -q ', 1 damaged, no checksums' out || fail "verify: $(cat out)"
refuses 1 "record 4: " "$ZRECORD" verify --json "$C" "$BAD/zstd_flip"
"$PYTHON" -c '
import json
a, b = map(json.loads, open("out"))
assert a["ok"] and a["records"] == 300 and a["damaged"] == [], a
assert not b["ok"] and b["damaged"] == [4], b
' || fail "verify --json"
cp -r "$C" $'a\xff\"b'
"$ZRECORD" verify --json $'a\xff\"b' >out || fail "verify --json of odd names"
"$PYTHON" -c 'import json; json.load(open("out", encoding="utf-8"))' ||
	fail "verify --json is not JSON: $(cat out)"
rm -rf a*b
# What we write has checksums: any damage is found.
works "$ZRECORD" recode "$C" c
printf x | dd of=c/data.zr bs=1 seek=41 conv=notrunc status=none
refuses 1 "record 5: wrong checksum" "$ZRECORD" cat c 5
works "$ZRECORD" cat --no-checksums c 5
works "$ZRECORD" cat c 4
refuses 1 "record 5: wrong checksum" "$ZRECORD" verify c
printf x | dd of=c/check.zr bs=1 seek=70 conv=notrunc status=none
refuses 1 "no-checksums" "$ZRECORD" info c
works "$ZRECORD" info --no-checksums c
rm -rf c
refuses 1 "recover" "$ZRECORD" verify "$BAD/unpublished"
works "$ZRECORD" info "$BAD/unpublished"
grep -q 'did not finish' out || fail "info of an unpublished one"
refuses 1 "record 4" "$ZRECORD" cat "$BAD/zstd_flip" 4
works "$ZRECORD" cat "$BAD/zstd_flip" 3,5
"$ZRECORD" ls -l "$BAD/ragged_rank_65" >out 2>err
[ $? -eq 1 ] && grep -qE '^ *1  damaged$' out && grep -q 'record 1' err ||
	fail "ls -l of a damaged record"
grep -qE '^ *2 ' out || fail "ls -l stops at a damaged record"
refuses 1 "No such file" "$ZRECORD" info "$WORK/none"
refuses 1 "Not a directory.*zrecord create" "$ZRECORD" info "$C/meta.zr"
# What is wrong, in words of a user, and both numbers.
while IFS=: read -r bad text; do
	refuses 1 "$text" "$ZRECORD" cat "$BAD/$bad" :
done <<'T'
loc_past_tail:record 22: its entry in meta.zr is damaged: where it ends in data.zr: expected at most 5520, found 5521
loc_end_wraps:expected at most 5520, found 18446744073709551615
loc_zero_phys:its bytes in data.zr: expected at least 1, found 0
ragged_rank_65:its shape is damaged: dimensions: expected at most 64, found 65
codec_unknown:codec: expected 0 (raw), 1 (zstd) or 2 (zstd_dict), found 3
schema_len_0:bytes of its schema: expected 1 to 4064, found 0
T
refuses 1 "not a container" "$ZRECORD" info "$WORK"
"$ZRECORD" cat "$C" : 2>err >/dev/full
[ $? -eq 1 ] && grep -q 'No space' err || fail "a full disk: $(cat err)"
only
