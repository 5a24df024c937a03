#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# verify: a folder of containers; many threads and large records.
. "$(dirname "$0")/count.sh"

make npy a.npy '<i4' 30,4
mkdir -p f/.hidden f/plain
for c in b a; do done_well "$ZRECORD" create -q f/$c a.npy; done
done_well "$ZRECORD" verify f
says "a folder" "f/a: 30 records, 0 damaged
f/b: 30 records, 0 damaged"
done_well "$ZRECORD" verify --json f/a f/
says "as JSON" '{"path": "f/a", "ok": true, "records": 30, "checksums": true, "damaged": []}
[{"path": "f/a", "ok": true, "records": 30, "checksums": true, "damaged": []}, {"path": "f/b", "ok": true, "records": 30, "checksums": true, "damaged": []}]'
# One that is damaged, and one that is none.
printf x | dd of=f/a/data.zr bs=1 seek=100 conv=notrunc status=none
refused 1 'f/a.*record 6: wrong checksum' "$ZRECORD" verify f
grep -q "f/b: 30 records, 0 damaged" .out || failed "the rest is not verified: $(cat .out)"
rm -r f/a/meta.zr
refused 1 'f/a: .*meta.zr' "$ZRECORD" verify f
refused 1 'not a container' "$ZRECORD" verify f/plain

# Records of 48 MiB that take some bytes each: memory has a bound.
"$PYTHON" - "$ZRECORD" <<'P' || failed "see above"
import resource, struct, subprocess, sys
mib = 48
t = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1, %d), }" % (mib << 20)
with open("z.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\x00\x76\x00" + t.ljust(117) + b"\n" + bytes(mib << 20))
run = lambda *args: subprocess.run([sys.argv[1], *args], check=True, stdout=subprocess.DEVNULL)
run("create", "-q", "--no-checksums", "--codec", "zstd", "z", "z.npy")
b = open("z/meta.zr", "rb").read()
open("z/meta.zr", "wb").write(struct.pack("<Q", 12) + b[8:4096] + b[4096:4112] * 12)
def most_so_far():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
run("verify", "-j", "1", "z")
if most_so_far() > 2 * mib:
    sys.exit() # a sanitizer keeps what was freed
run("verify", "-j", "8", "z")
most = most_so_far()
if most > 160:
    sys.exit("verify -j 8 took %d MiB" % most)
P
finish
