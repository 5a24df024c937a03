#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Containers of loaderx: what export writes is what numpy.save would.
. "$(dirname "$0")/count.sh"

done_well "$ZRECORD" verify --json "$DATA"/golden/*/
cp .out verified
for c in "$DATA"/golden/*/; do
	done_well "$ZRECORD" export "$c" "$(basename "$c")"
	done_well "$ZRECORD" export --as npz "$c" "$(basename "$c").npz"
	done_well "$ZRECORD" ls -l "$c"
	cp .out "$(basename "$c").ls"
done
"$PYTHON" - "$DATA/golden/manifest.json" <<'P' || failed "see above"
import hashlib, json, os, sys, zipfile
wrong = 0
def check(ok, what):
    global wrong
    if not ok:
        wrong += 1
        print("wrong:", what)
known = json.load(open(sys.argv[1]))["containers"]
said = {os.path.basename(o["path"].rstrip("/")): o
        for o in map(json.loads, open("verified"))}
sha = lambda b: hashlib.sha256(b).hexdigest()
check(set(said) == set(known), "verify --json names all containers")
for name, want in known.items():
    o = said.get(name, {})
    check(o.get("records") == want["count"] and o.get("damaged") == [] and
          o.get("ok") is True, f"{name}: verify --json says {o}")
    hashes = [r["npy_sha256"] for r in want["records"]]
    files = sorted(os.listdir(name))
    check(files == [f"{i:06}.npy" for i in range(want["count"])],
          f"{name}: names")
    check([sha(open(f"{name}/{f}", "rb").read()) for f in files] == hashes,
          f"{name}: bytes")
    z = zipfile.ZipFile(name + ".npz")
    check([sha(z.read(f"arr_{i}.npy")) for i in range(want["count"])] ==
          hashes, f"{name}: npz")
    rows = open(name + ".ls").read().splitlines()
    check(len(rows) == want["count"] and all(
        str(tuple(r["shape"])) in row
        for r, row in zip(want["records"], rows)), f"{name}: ls -l")
sys.exit(wrong > 0)
P
finish
