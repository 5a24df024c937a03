#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Malformed containers: refused as a whole with one line and status 32, or
served but for the records that are bad."""
import errno
import hashlib
import zipfile

from common import *

containers = golden()
with open(f"{DATA}/bad/expect.json", encoding="utf-8") as f:
    expected = json.load(f)


def refused(name, want):
    point = tempfile.mkdtemp(dir=WORK)
    for options in ((), ("-f",)):
        p = quiet(FS, *options, f"{DATA}/bad/{name}", point)
        check(p.returncode == 32, f"{name}: exit status {p.returncode}")
        lines = p.stderr.splitlines()
        check(len(lines) == 1 and lines[0].startswith("zrecordfs: "),
              f"{name}: says {p.stderr!r}")
        check(not p.stdout and not is_mounted(point), f"{name}: mounted")
        if want["open"] == "unpublished":
            check("zrecord recover" in lines[0], f"{name}: {lines[0]}")
    os.rmdir(point)


def outcome(path):
    try:
        return hashlib.sha256(read(path)).hexdigest()
    except OSError as e:
        return errno.errorcode[e.errno]


def records(name, want, p):
    base = containers[want["base"]]
    bad = set(want["bad_records"])
    files = os.listdir(f"{p}/records")
    check(len(files) == base["count"], f"{name}: {len(files)} records")
    for again in range(2):
        for i, f in enumerate(files):
            if name == "ok_shared_location" and i == 7:
                continue
            path = f"{p}/records/{f}"
            got = outcome(path)
            right = "EIO" if i in bad else base["records"][i]["npy_sha256"]
            check(got == right, f"{name}: record {i} is {got}")
            check(os.stat(path).st_size > 0, f"{name}: size of {i}")


def batches(name, want, p):
    """Batches of one: those of good records work."""
    base = containers[want["base"]]
    bad = set(want["bad_records"])
    for i in range(min(base["count"], 12)):
        suffix = "npy" if base["kind"] == "dense" else "npz"
        if name.startswith("kind_"):
            suffix = "npy"
        path = f"{p}/batches/1/{i}.{suffix}"
        got = outcome(path)
        check((got == "EIO") == (i in bad), f"{name}: batch {i} is {got}")


def zip_with_bad(name, want, p):
    """A bad member does not spoil the others of its .npz."""
    base = containers[want["base"]]
    bad = want["bad_records"]
    with open(f"{p}/batches/256/0.npz", "rb", buffering=0) as f, \
            zipfile.ZipFile(f) as z:
        good = 0
        for i in range(base["count"]):
            try:
                data = z.read(f"arr_{i}.npy")
            except (OSError, zipfile.BadZipFile):
                continue
            check(i not in bad, f"{name}: member {i} is read")
            check(hashlib.sha256(data).hexdigest() ==
                  base["records"][i]["npy_sha256"], f"{name}: member {i}")
            good += 1
        # Those that share a page with the bad one go down with it.
        check(good > base["count"] // 2, f"{name}: {good} good members")


for number, (name, want) in enumerate(expected.items()):
    if want["open"] != "ok":
        refused(name, want)
        continue
    with Mount(f"{DATA}/bad/{name}", *(("-s",) if number % 2 else ())) as p:
        records(name, want, p)
        batches(name, want, p)
        if name.startswith("ragged_"):
            zip_with_bad(name, want, p)

# In the foreground the reason is told, at most one line a second.
m = Mount(f"{DATA}/bad/zstd_flip", "-f")
with m as p:
    for _ in range(5):
        check(outcome(f"{p}/records/4.npy") == "EIO", "bad record")
check(1 <= len(m.text().splitlines()) <= 3 and "record 4" in m.text(),
      f"log: {m.text()!r}")

# A data file that is cut, or gone, under the mount: an error, and no crash.
for codec in ("raw", "zstd"):
    c = make_dense(f"cut_{codec}", np.arange(
        2000 * 512, dtype="<i4").reshape(2000, 512) % 1000003, codec)
    with Mount(c) as p:
        check(outcome(f"{p}/records/0.npy") != "EIO", "good record")
        size = os.stat(f"{c}/data.zr").st_size
        os.truncate(f"{c}/data.zr", size // 2)
        check(outcome(f"{p}/records/1999.npy") == "EIO", f"{codec}: cut")
        check(outcome(f"{p}/all.npy") == "EIO", f"{codec}: cut all.npy")
        check(outcome(f"{p}/records/5.npy") != "EIO", f"{codec}: not cut")
        os.truncate(f"{c}/data.zr", 0)
        check(outcome(f"{p}/records/800.npy") == "EIO", f"{codec}: empty")
        shutil.rmtree(c)
        check(outcome(f"{p}/records/801.npy") == "EIO", f"{codec}: gone")
        check(len(os.listdir(f"{p}/records")) == 2000, f"{codec}: listing")
