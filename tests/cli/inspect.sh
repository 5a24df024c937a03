#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# info, ls and cat of good containers.
. "$(dirname "$0")/count.sh"

golden=$DATA/golden
make npy a.npy '<i4' 12,2,3
make rows want '<i4' 12,2,3
make each mixed '>f8' 2,3 - 5
done_well "$ZRECORD" create --codec zstd a.zr a.npy
done_well "$ZRECORD" create m.zr mixed

for key in kind dtype item_shape codec records logical_bytes stored_bytes \
	dict_bytes published checksums; do
	[ -n "$(field a.zr $key)" ] || failed "info --json: no $key"
done
has a.zr logical_bytes 288
has a.zr published true
has a.zr dict_bytes 0
done_well "$ZRECORD" info a.zr
for word in dense '<i4' zstd 12; do
	grep -qw -- "$word" .out || failed "info does not say $word"
done
done_well "$ZRECORD" info "$DATA/bad/unpublished"
grep -q "did not finish" .out || failed "info of what was never published"
done_well "$ZRECORD" info --json "$DATA/bad/unpublished"
has "$DATA/bad/unpublished" published false
refused 1 "none" "$ZRECORD" info none
refused 1 "a\.npy" "$ZRECORD" info a.npy
refused 1 "mixed" "$ZRECORD" info mixed

done_well "$ZRECORD" ls a.zr
says "ls" "$(seq 0 11)"
done_well "$ZRECORD" ls a.zr 3:1:-1,7
says "ls of a selection" "3
2
7"
done_well "$ZRECORD" ls a.zr 5:5
says "ls of nothing" ""
done_well "$ZRECORD" ls -l a.zr 0,11
[ "$(grep -c '(2, 3)' .out)" = 2 ] && [ "$(grep -cw 24 .out)" = 2 ] ||
	failed "ls -l: $(cat .out)"
[ "$(awk '{ print length }' .out | sort -u | wc -l)" = 1 ] ||
	failed "ls -l is not aligned: $(cat .out)"
done_well "$ZRECORD" ls -l m.zr
tr -s ' ' <.out >.flat
grep -q '(2, 3)' .flat && grep -q '()' .flat && grep -q '(5,)' .flat ||
	failed "ls -l of Ragged: $(cat .out)"
done_well "$ZRECORD" ls "$golden/dense_empty_raw"
says "ls of an empty one" ""

for i in 0 7 11; do
	done_well "$ZRECORD" cat --as npy a.zr $i
	cmp -s .out want/$(printf %06d $i).npy || failed "cat --as npy $i"
	done_well "$ZRECORD" cat --as=raw a.zr $i
	tail -c 24 want/$(printf %06d $i).npy | cmp -s - .out ||
		failed "cat --as raw $i"
done
done_well "$ZRECORD" cat --as npy a.zr 3,0,3
cat want/000003.npy want/000000.npy want/000003.npy | cmp -s - .out ||
	failed "cat --as npy of several"
done_well "$ZRECORD" cat --as raw a.zr :
tail -c 288 a.npy | cmp -s - .out || failed "cat --as raw of all"

"$PYTHON" - <<'P'
import struct
text = b"{'descr': '<i4', 'fortran_order': False, 'shape': (3, 2, 2), }"
open("n.npy", "wb").write(
    b"\x93NUMPY\x01\x00\x76\x00" + text.ljust(117) + b"\n" +
    struct.pack("<12i", 1, -2, 3, 40000, *range(8)))
P
done_well "$ZRECORD" create n.zr n.npy
done_well "$ZRECORD" cat n.zr 0
says "text of one" "1 -2
3 40000"
done_well "$ZRECORD" cat --as text n.zr 0,1
says "text of two" "1 -2
3 40000

0 1
2 3"
done_well "$ZRECORD" cat --as json n.zr 0,2
says "json" "[[1, -2], [3, 40000]]
[[4, 5], [6, 7]]"
done_well "$ZRECORD" cat n.zr 2:2
says "cat of nothing" ""
done_well "$ZRECORD" cat --as json m.zr :
"$PYTHON" -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert len(rows) == 3 and len(rows[0]) == 2 and len(rows[2]) == 5, rows
' .out || failed "json of Ragged"

# Nobody reads: an error, or the signal that says so.
"$ZRECORD" cat --as raw a.zr : >/dev/full 2>.err
[ $? = 1 ] && grep -q '^zrecord: ' .err || failed "cat to a full device"
"$ZRECORD" info a.zr >/dev/full 2>.err
[ $? = 1 ] || failed "info to a full device"
"$ZRECORD" ls a.zr >/dev/full 2>.err
[ $? = 1 ] || failed "ls to a full device"
"$ZRECORD" verify a.zr >/dev/full 2>.err
[ $? = 1 ] || failed "verify to a full device"
"$ZRECORD" help >/dev/full 2>.err
[ $? = 1 ] || failed "help to a full device"
make npy big.npy '|u1' 3,1000000
done_well "$ZRECORD" create big.zr big.npy
"$ZRECORD" cat --as raw big.zr : | head -c 1 >.out
[ "${PIPESTATUS[0]}" = 141 ] || [ "${PIPESTATUS[0]}" = 1 ] ||
	failed "cat into a closed pipe"
finish
