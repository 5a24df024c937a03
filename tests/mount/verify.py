#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""-o verify=open: a bad record is an error of open(2), not of its first
read."""
import errno
import threading

from common import *

N, BAD = 40, 17
ZRECORD = os.environ["ZRECORD"]


def opens(path, flags=os.O_RDONLY):
    try:
        os.close(os.open(path, flags))
    except OSError as e:
        return errno.errorcode[e.errno]
    return "good"


def damaged(name, array, codec, *options):
    """One bit of record BAD differs; its hash in check.zr tells."""
    source, c = f"{WORK}/{name}.npy", f"{WORK}/{name}"
    np.save(source, array)
    p = quiet(ZRECORD, "create", "--codec", codec, *options, c, source)
    check(p.returncode == 0, p.stderr)
    with open(f"{c}/meta.zr", "rb") as f:
        f.seek(4096 + 16 * BAD)
        at, stored, _ = struct.unpack("<QII", f.read(16))
    with open(f"{c}/data.zr", "r+b") as f:
        f.seek(at + stored - 1)
        byte = f.read(1)[0]
        f.seek(at + stored - 1)
        f.write(bytes([byte ^ 1]))
    return c


rng = np.random.default_rng(2)
for name, items, codec in (("small", 50, "raw"), ("pages", 70000, "zstd"),
                           ("large", 1000000, "zstd"),
                           ("large_raw", 1000000, "raw")):
    array = rng.integers(0, 200, (N, items)).astype("<i4")
    if items == 1000000:
        array[:, 1000:] = 3
    for kind in ("npy", "npz"):
        c = damaged(name + kind, array, codec,
                    *(["--ragged"] if kind == "npz" else []))
        with Mount(c, "-o", "verify=open,cache_mb=20") as p:
            for i in range(N):
                path = f"{p}/records/{i}.npy"
                check(opens(path) == ("EIO" if i == BAD else "good"),
                      f"{name} {kind} {i}: {opens(path)}")
                if i != BAD:
                    check(read(path) == npy(array[i]), f"{name} {kind} {i}")
            bad = BAD // 5
            for i in range(N // 5):
                check(opens(f"{p}/batches/5/{i}.{kind}") ==
                      ("EIO" if i == bad else "good"), f"{name}: batch {i}")
            check(opens(f"{p}/gather/3,1,{BAD}.{kind}") == "EIO", "gather")
            check(opens(f"{p}/gather/3,1.{kind}") == "good", "gather")
            if items < 1000:
                check(opens(f"{p}/text/{BAD}.txt") == "EIO", "text")
                check(opens(f"{p}/text/{BAD - 1}.txt") == "good", "text")
            check(opens(f"{p}/records/1.npy", os.O_RDWR) == "EROFS", "rw")
            check(opens(f"{p}/info.json") == "good", "info.json")
            check(stats(p)["asks_open"], "asks_open")
        # The default: open does not ask.
        with Mount(c) as p:
            check(opens(f"{p}/records/{BAD}.npy") == "good", "verify=read")
            check(not stats(p)["asks_open"], "asks_open")
        shutil.rmtree(c)

# Many at once, in less memory than they have together.
array = np.zeros((8, 8000000), "<f4") + np.arange(8, dtype="<f4")[:, None]
c = make_dense("many", array, "zstd")
with Mount(c, "-o", "verify=open,cache_mb=1,threads=2") as p:
    wrong = []

    def one(i):
        if read(f"{p}/records/{i}.npy") != npy(array[i]):
            wrong.append(i)
        if opens(f"{p}/gather/{i}:{i + 2}.npy") != "good":
            wrong.append(f"gather {i}")

    threads = [threading.Thread(target=one, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(not wrong, f"at once: {wrong}")
