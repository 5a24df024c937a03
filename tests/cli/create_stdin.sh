#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# create from a .npy on standard input: as it comes, in fixed memory.
. "$(dirname "$0")/count.sh"

make npy a.npy '<i4' 500,7
make rows want '<i4' 500,7
# One byte, some bytes and all at a time.
for size in 1 100 65536; do
	dd if=a.npy bs=$size 2>/dev/null | "$ZRECORD" create c.zr - ||
		failed "a stream of $size bytes at a time"
	done_well "$ZRECORD" export c.zr got
	same "a stream of $size bytes at a time" want got
	rm -rf c.zr got
done
"$ZRECORD" create --codec zstd c.zr - <a.npy || failed "a file as stdin"
done_well "$ZRECORD" export c.zr got
same "a file as stdin" want got
rm -rf c.zr got
"$ZRECORD" create --ragged c.zr - <a.npy || failed "--ragged"
has c.zr kind ragged
rm -rf c.zr
make npy e.npy '<i4' 0,7
"$ZRECORD" create c.zr - <e.npy || failed "an empty stream of records"
has c.zr records 0
rm -rf c.zr
make npy f.npy '<i4' 500,7 fortran
"$ZRECORD" create -q c.zr - <f.npy || failed "Fortran order"
done_well "$ZRECORD" export c.zr got
same "Fortran order" want got
rm -rf c.zr got
cat f.npy | "$ZRECORD" create -q c.zr - || failed "a pipe in Fortran order"
done_well "$ZRECORD" export c.zr got
same "a pipe in Fortran order" want got
rm -rf c.zr got
# Behind something else that was read: the array begins where it was left.
for f in a f; do
	{ printf 'a line\n' && cat $f.npy; } >behind
	{
		read -r _
		"$ZRECORD" create -q c.zr -
	} <behind || failed "$f.npy behind a line"
	done_well "$ZRECORD" export c.zr got
	same "$f.npy behind a line" want got
	rm -rf c.zr got
done
# Trains on what came first.
make npy big.npy '<i2' 3000,1000
"$ZRECORD" create --codec zstd_dict --tier fast c.zr - <big.npy ||
	failed "zstd_dict"
make rows want2 '<i2' 3000,1000
done_well "$ZRECORD" export c.zr got
same "zstd_dict of a stream" want2 got
rm -rf c.zr got want2

# fed STATUS PATTERN FILE [OPTION...]: the file as a stream.
fed() {
	local want=$1 pattern=$2 file=$3 status

	cat "$file" | "$ZRECORD" create "${@:4}" c.zr - >.out 2>.err
	status=$?
	[ $status = "$want" ] && [ "$(wc -l <.err)" = 1 ] &&
		grep -Eq -- "$pattern" .err ||
		failed "$file: status $status, $(head -c 300 .err)"
	[ ! -e c.zr ] || failed "$file left c.zr"
}
head -c -1 a.npy >short.npy
(cat a.npy; echo) >long.npy
fed 1 "standard input|stdin" short.npy
fed 1 "standard input|stdin" long.npy
for n in 0 5 11 12 100; do
	head -c $n a.npy >cut.npy
	fed 1 "" cut.npy
done
echo 'not an array, but a long enough text' >text.npy
fed 1 "" text.npy
make header o.npy "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }" 00
fed 1 "object" o.npy
make npy s.npy '<i4' -
fed 1 "0-d" s.npy
fed 1 "--dict|--codec" e.npy --codec zstd_dict
refused 1 "" "$ZRECORD" create c.zr - a.npy
: >none
fed 1 "" none

# Claims cost no memory: 2 GiB records that are not there.
make header huge.npy "{'descr': '|u1', 'fortran_order': False, \
'shape': (1000, 2000000000), }" 00000000
if [ "${ZRECORD##*asan*}" ]; then
	(ulimit -v 700000 && fed 1 "" huge.npy && exit $failures) ||
		failed "an array that claims to be large"
	# 600 MB in 700 MB of address space with all else.
	"$PYTHON" - <<'P' | (ulimit -v 500000; "$ZRECORD" create -j 1 c.zr -) ||
import sys
out = sys.stdout.buffer
text = b"{'descr': '|u1', 'fortran_order': False, 'shape': (6000, 100000), }"
out.write(b"\x93NUMPY\x01\x00\x76\x00" + text.ljust(117) + b"\n")
for i in range(6000):
    out.write(bytes([i % 251]) * 100000)
P
		failed "a stream larger than memory"
	has c.zr records 6000
fi
nothing_left
finish
