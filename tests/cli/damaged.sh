#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Malformed containers: what can be told is told, the good records are served.
. "$(dirname "$0")/count.sh"

cat >check.py <<'P'
import hashlib, json, os, re, subprocess, sys
zr, data = sys.argv[1:]
expect = json.load(open(f"{data}/bad/expect.json"))
golden = json.load(open(f"{data}/golden/manifest.json"))["containers"]
wrong = 0
def check(ok, what):
    global wrong
    if not ok:
        wrong += 1
        print("wrong:", what)
def run(*cmd):
    p = subprocess.run([zr, *map(str, cmd)], capture_output=True, timeout=60,
                       stdin=subprocess.DEVNULL)
    return p.returncode, p.stdout, p.stderr.decode(errors="replace").splitlines()
for name, want in expect.items():
    src, bad = f"{data}/bad/{name}", want["bad_records"]
    records = golden[want["base"]]["records"]
    broken = want["open"] != "ok" or bad
    rc, out, err = run("verify", src)
    check(rc == bool(broken), f"{name}: verify is {rc}")
    rcj, outj, errj = run("verify", "--json", src)
    said = json.loads(outj)
    check(rcj == rc and said["ok"] is not bool(broken), f"{name}: {said}")
    if want["open"] == "ok":
        check(said["damaged"] == sorted(bad), f"{name}: damaged {said}")
        check(len(err) == len(bad), f"{name}: {len(err)} lines of errors")
        check(f"{len(records)} records, {len(bad)} damaged".encode() in out,
              f"{name}: summary {out}")
    else:
        check(len(err) == 1 and name in err[0], f"{name}: {err}")
        for cmd in ("ls", "cat", "export", "recode"):
            args = [src] + {"cat": ["0"], "ls": []}.get(cmd, ["out"])
            rc, out, err = run(cmd, *args)
            check(rc == 1 and len(err) == 1 and name in err[0] and not out,
                  f"{name}: {cmd} is {rc} {err}")
        if want["open"] == "unpublished":
            check("recover" in err[0], f"{name}: {err}")
        else:
            rc, out, err = run("info", src)
            check(rc == 1 and len(err) == 1 and name in err[0],
                  f"{name}: info is {rc} {err}")
        continue
    rc, out, err = run("info", src)
    check(rc == 0 and not err, f"{name}: info is {rc} {err}")
    rc, out, err = run("ls", "-l", src)
    rows = out.decode().splitlines()
    check(len(rows) == len(records), f"{name}: ls -l has {len(rows)} rows")
    marked = [i for i, row in enumerate(rows) if "(" not in row]
    check(set(marked) <= set(bad) and rc == bool(marked) and
          len(err) == len(marked), f"{name}: ls -l marks {marked}, {rc}")
    if not bad:
        continue
    rc, out, err = run("cat", "--as", "npy", src, bad[0])
    check(rc == 1 and len(err) == 1 and name in err[0] and
          re.search(rf"\b{bad[0]}\b", err[0]) and not out,
          f"{name}: cat of {bad[0]} is {rc} {err}")
    rc, out, err = run("export", src, "out")
    check(rc == 1 and len(err) == 1 and not os.path.exists("out"),
          f"{name}: export is {rc} {err}")
    good = [i for i in range(len(records)) if i not in bad]
    rc, out, err = run("export", "--select", ",".join(map(str, good)) or ":0",
                       src, "out")
    files = sorted(os.listdir("out")) if rc == 0 else []
    hashes = [hashlib.sha256(open(f"out/{f}", "rb").read()).hexdigest()
              for f in files]
    check(rc == 0 and hashes == [records[i]["npy_sha256"] for i in good],
          f"{name}: the good records are exported ({rc} {err})")
    subprocess.run(["rm", "-rf", "out"])
sys.exit(wrong > 0)
P
"$PYTHON" check.py "$ZRECORD" "$DATA" || failures=1

# Several containers: all are looked at.
"$ZRECORD" verify "$DATA/golden/dense_f4_raw" "$DATA/bad/meta_empty" \
	"$DATA/bad/zstd_flip" "$DATA/golden/dense_dict" >.out 2>.err
[ $? = 1 ] || failed "verify of several"
[ "$(wc -l <.out)" -ge 3 ] && grep -q dense_dict .out &&
	grep -q 'dense_f4_raw: [0-9]* records, 0 damaged' .out ||
	failed "verify of several: $(cat .out)"
grep -q 'recover' <("$ZRECORD" verify "$DATA/bad/unpublished" 2>&1) ||
	failed "verify does not name zrecord recover"
nothing_left
finish
