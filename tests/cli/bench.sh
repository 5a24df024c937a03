#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bench: what it measures, in both forms; damage, nothing to read, a signal.
. "$(dirname "$0")/count.sh"

make npy a.npy '<i4' 600,16
make each mixed '<i4' 3 5,2 7
for codec in raw zstd zstd_dict; do
	done_well "$ZRECORD" create --codec $codec $codec.zr a.npy
done
done_well "$ZRECORD" create mixed.zr mixed

# cells C WANT OPTION...: --json has just these "threads batch checksums", and
# rates that agree with the size of a record ($size).
cells() {
	local c=$1 want=$2
	shift 2
	done_well "$ZRECORD" bench --json "$@" "$c"
	"$PYTHON" -c '
import json, sys
cells = [json.loads(line) for line in open(".out")]
for c in cells:
    assert c["warm"] is True, c
    bytes_s = c["mib_s"] * 2**20
    size = bytes_s / c["records_s"]
    assert c["records_s"] > 1000 and abs(size - float(sys.argv[1])) < 1, c
print(*("%d %d %d" % (c["threads"], c["batch"], c["checksums"])
        for c in cells), sep=",")' "$size" >.cells 2>&1 &&
		[ "$(cat .cells)" = "$want" ] ||
		failed "bench --json $* $c: $(tail -n 1 .cells); not $want"
}
size=64
# 600 records have no batch of 1024.
cells raw.zr "1 1 1,1 32 1,1 256 1" -j 1
cells zstd.zr "1 5 1,2 5 1,3 5 1" -j 3 --batch 5
cells zstd_dict.zr "1 1000 0,1 7 0" -j 1 --batch 1000,7 --no-checksums
size=240
cells "$DATA/golden/dense_f4_zstd" "1 4 0" -j 1 --batch 4
# Each of the three is drawn as often: 12, 40 and 28 bytes.
size=26.7
cells mixed.zr "1 1 1" -j 1

done_well "$ZRECORD" bench -j 1 --batch 3 mixed.zr
grep -q 'mixed.zr: 3 records, ragged, raw, .*checksums compared' .out &&
	grep -q 'read once before' .out ||
	failed "the table's head: $(cat .out)"
awk 'NF == 4 && $1 == 1 && $2 == 3 && $3 > 0 && $4 > 1000 { n++ }
	END { exit n != 1 }' .out || failed "the table: $(cat .out)"
done_well "$ZRECORD" bench -j 1 --batch 3 --no-checksums mixed.zr
grep -q 'checksums not compared' .out || failed "--no-checksums: $(cat .out)"

refused 1 "no records" "$ZRECORD" bench "$DATA/golden/dense_empty_raw"
refused 1 "zstd_flip" "$ZRECORD" bench "$DATA/bad/zstd_flip"
refused 1 "meta_empty" "$ZRECORD" bench "$DATA/bad/meta_empty"
refused 1 "none" "$ZRECORD" bench none
make npy wide.npy '|u1' 2,30000000
done_well "$ZRECORD" create wide.zr wide.npy
refused 1 "more than half of the memory" \
	"$ZRECORD" bench --batch 16000000 wide.zr
refused 2 "try 'zrecord help bench'" "$ZRECORD" bench
refused 2 "one container" "$ZRECORD" bench raw.zr zstd.zr
refused 2 "not '0'" "$ZRECORD" bench -j 0 raw.zr
for list in 0 '1,,2' x '1,' '' 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17; do
	refused 2 "--batch takes" "$ZRECORD" bench --batch "$list" raw.zr
done
done_well "$ZRECORD" help bench
awk 'length > 80' .out | grep . && failed "help bench: a line over 80"
"$ZRECORD" bench -j 1 --batch 1 raw.zr >/dev/full 2>.err
[ $? = 1 ] || failed "bench to a full device"

# A signal ends it within one measurement; what was measured has been printed.
for signal in TERM:143 INT:130; do
	rm -f .out # its first line says that the program runs
	# A shell ignores INT in what it starts in the background.
	"$PYTHON" -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$ZRECORD" bench --json -j 1 \
		--batch 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 raw.zr >.out 2>.err &
	pid=$!
	for _ in $(seq 200); do
		[ -s .out ] && break
		sleep 0.02
	done
	kill -${signal%:*} $pid
	wait $pid 2>/dev/null
	status=$?
	[ $status = ${signal#*:} ] || failed "${signal%:*}: status $status"
	[ ! -s .err ] || failed "${signal%:*}: $(cat .err)"
	lines=$(wc -l <.out)
	[ "$lines" -ge 1 ] && [ "$lines" -lt 16 ] ||
		failed "${signal%:*}: $lines lines"
done
finish
