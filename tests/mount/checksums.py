#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A record that differs from its hash is an error of its own, in whatever
file it is read; -o checksums=off serves the bytes that are there."""
import errno

from common import *

ZRECORD = os.environ["ZRECORD"]
RECORDS, ITEMS = 12, 70000  # larger than a READ: served in slices
array = np.arange(RECORDS * ITEMS, dtype="<i4").reshape(RECORDS, ITEMS)
ragged = [array[i, :ITEMS - i] for i in range(RECORDS)]


def create(name, arrays, *options):
    source, path = f"{WORK}/{name}.src", f"{WORK}/{name}"
    os.mkdir(source)
    for i, a in enumerate(arrays):
        np.save(f"{source}/{i:03d}.npy", a)
    p = quiet(ZRECORD, "create", *options, path, source)
    check(p.returncode == 0, f"create {name}: {p.stderr}")
    check(os.path.exists(f"{path}/check.zr"), f"{name}: no check.zr")
    return path


def outcome(path, *span):
    try:
        with open(path, "rb") as f:
            return os.pread(f.fileno(), *span) if span else f.read()
    except OSError as e:
        return errno.errorcode[e.errno]


def flip(path, offset):
    with open(f"{path}/data.zr", "r+b") as f:
        f.seek(offset)
        byte = f.read(1)[0]
        f.seek(offset)
        f.write(bytes([byte ^ 4]))


dense = create("dense", array)
packed = create("ragged", ragged, "--ragged")
for c in (dense, packed):
    with Mount(c) as p:
        for i, a in enumerate(array if c == dense else ragged):
            check(read(f"{p}/records/{i}.npy") == npy(a), f"{c}: {i}")

# One bit in the elements of record 7.
flip(dense, 7 * ITEMS * 4 + 100000)
flip(packed, sum(9 + a.nbytes for a in ragged[:7]) + 100000)
for c, suffix in ((dense, "npy"), (packed, "npz")):
    rows = array if c == dense else ragged
    with Mount(c) as p:
        for again in range(2):
            check(outcome(f"{p}/records/7.npy") == "EIO", f"{c}: served")
            # A slice that does not have the bit is not served either.
            check(outcome(f"{p}/records/7.npy", 4096, 8192) == "EIO",
                  f"{c}: a slice is served")
            check(outcome(f"{p}/batches/4/1.{suffix}") == "EIO",
                  f"{c}: a batch is served")
        for i in set(range(RECORDS)) - {7}:
            check(read(f"{p}/records/{i}.npy") == npy(rows[i]), f"{c}: {i}")
        check(os.stat(f"{p}/records/7.npy").st_size == len(npy(rows[7])),
              f"{c}: size")
        check(outcome(f"{p}/batches/4/2.{suffix}") != "EIO", f"{c}: batch 2")
    for on in ("on", "off"):
        with Mount(c, "-o", f"checksums={on}") as p:
            got = outcome(f"{p}/records/7.npy")
            if on == "on":
                check(got == "EIO", f"{c}: on")
                continue
            differ = np.flatnonzero(np.frombuffer(got, "u1") !=
                                    np.frombuffer(npy(rows[7]), "u1"))
            check(len(got) == len(npy(rows[7])) and len(differ) == 1,
                  f"{c}: off: {differ}")

# A sidecar of another container is refused, unless it is not looked at.
shutil.copy(f"{packed}/check.zr", f"{dense}/check.zr")
point = tempfile.mkdtemp(dir=WORK)
p = quiet(FS, dense, point)
check(p.returncode == 32 and "check.zr" in p.stderr, f"foreign: {p.stderr}")
with Mount(dense, "-o", "checksums=off") as p:
    check(read(f"{p}/records/0.npy") == npy(array[0]), "foreign, off")
p = quiet(FS, "-o", "checksums=maybe", dense, point)
check(p.returncode == 1 and "checksums=maybe" in p.stderr, p.stderr)
