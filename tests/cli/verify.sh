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

# What cannot be looked into may be a container: it is told, and the others
# are verified.
rm -rf f
mkdir -p f/b f/d f/e f/plain f/lost+found
touch f/notes
done_well "$ZRECORD" create -q f/a a.npy
done_well "$ZRECORD" create -q f/z a.npy
ln -s not-fetched f/b/meta.zr
ln -s not-fetched f/b/data.zr
ln -s not-fetched f/c
ln -s not-fetched f/d/data.zr
ln -s e f/e/meta.zr
ln -s loop f/loop
"$ZRECORD" verify f >.out 2>.err && failed "links to nothing: status 0"
says "links to nothing" "f/a: 30 records, 0 damaged
f/z: 30 records, 0 damaged"
for name in b c d e loop; do
	grep -q "^zrecord: f/$name: " .err ||
		failed "f/$name is not told: $(cat .err)"
done
[ "$(wc -l <.err)" = 5 ] || failed "not a line each: $(cat .err)"
"$ZRECORD" verify --json f >.out 2>/dev/null && failed "--json: status 0"
"$PYTHON" -c '
import json, sys
got = [(e["path"], e["ok"], e["records"]) for e in json.load(sys.stdin)]
sys.exit(got != [("f/" + n, n in "az", 30 if n in "az" else None)
                 for n in ("a", "b", "c", "d", "e", "loop", "z")])' <.out ||
	failed "--json: $(cat .out)"
# The same where a user may not search.
as_user=
if [ "$(id -u)" = 0 ]; then
	as_user="setpriv --reuid=65534 --regid=65534 --clear-groups"
fi
rm -rf f/[b-e] f/loop
cp -r f/a f/b
chmod -R a+rX .
chmod 0 f/b f/lost+found
if $as_user "$ZRECORD" verify f/a >/dev/null 2>&1; then
	$as_user "$ZRECORD" verify f >.out 2>.err &&
		failed "not searchable: status 0"
	grep -q "f/b: .*denied" .err || failed "not searchable: $(cat .err)"
	[ "$(wc -l <.err)" = 1 ] || failed "not one line: $(cat .err)"
	grep -q "f/z: 30 records, 0" .out || failed "the others: $(cat .out)"
	chmod 311 f
	$as_user "$ZRECORD" verify --json f >.out 2>.err &&
		failed "not listed: status 0"
	grep -q '^{"path": "f", "ok": false, "records": null' .out ||
		failed "not listed: $(cat .out)"
	[ "$(wc -l <.err)" = 1 ] || failed "not one line: $(cat .err)"
	chmod 755 f f/b
fi

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
