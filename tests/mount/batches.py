#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Batches of any size are the records in them: arrays of a Dense container,
zips of a Ragged one that every unzip reads."""
import io
import shutil as tools
import zipfile

from common import *

rng = np.random.default_rng(5)


def dense(codec, array):
    c = make_dense(f"dense_{codec}_{array.shape[1]}", array, codec)
    with Mount(c, "-o", "batch=64:1000,cache_mb=1") as p:
        for size in (1, 2, 63, 64, 65, 100, len(array), len(array) + 1, 2**31):
            if size == 1:
                names = ["000000.npy", "000007.npy"]
            else:
                names = os.listdir(f"{p}/batches/{size}")
            for name in names:
                k = int(name[:-4])
                want = npy(array[k * size:(k + 1) * size])
                path = f"{p}/batches/{size}/{name}"
                check(read(path) == want, f"{path} of {codec}")
                check(os.stat(path).st_size == len(want), f"{path}: size")
        check(read(f"{p}/all.npy") == npy(array), f"{p}/all.npy of {codec}")
        m = np.load(f"{p}/all.npy", mmap_mode="r")
        for i in rng.integers(0, len(array), 50):
            check((m[i] == array[i]).all(), f"all.npy[{i}] of {codec}")
        del m  # the map keeps the mount busy


for codec in ("raw", "zstd"):
    dense(codec, rng.integers(0, 9, (300, 5, 7)).astype("<i4"))
    # Rows longer than a READ, and rows of which a READ has many and a bit.
    dense(codec, rng.integers(0, 9, (130, 33333)).astype("<i2"))
    dense(codec, rng.integers(0, 9, (20000, 3)).astype("|u1"))


def ragged(codec, arrays, sizes):
    c = make_ragged(f"ragged_{codec}_{len(arrays)}", arrays, codec)
    with Mount(c, "-o", "batch=64,cache_mb=1") as p:
        for size in sizes:
            for name in os.listdir(f"{p}/batches/{size}"):
                path = f"{p}/batches/{size}/{name}"
                k = int(name[:-4])
                want = arrays[k * size:(k + 1) * size]
                data = read(path)
                check(len(data) == os.stat(path).st_size, f"{path}: size")
                with zipfile.ZipFile(io.BytesIO(data)) as z:
                    check(len(want) > 1000 or z.testzip() is None,
                          f"{path}: check sums")
                    check(z.namelist() == [f"arr_{i}.npy" for i in
                                           range(len(want))], f"{path}: names")
                    # All of a few, a few of many.
                    for i, a in list(enumerate(want))[::len(want) // 500 + 1]:
                        check(z.read(f"arr_{i}.npy") == npy(a),
                              f"{path}: member {i}")
                        check(z.infolist()[i].date_time ==
                              (1980, 1, 1, 0, 0, 0), f"{path}: time")
                with np.load(path) as z:
                    check(all((z[f"arr_{i}"] == a).all() for i, a in
                              enumerate(want[:200])), f"{path}: np.load")
                if tools.which("unzip"):
                    r = quiet("unzip", "-tq", path)
                    check(r.returncode == 0, f"{path}: {r.stdout}{r.stderr}")


for codec in ("raw", "zstd"):
    few = [rng.integers(0, 9, tuple(rng.integers(1, 9, rng.integers(0, 5))))
           .astype("<i4") for _ in range(150)]
    few[70] = rng.integers(0, 9, (1000, 700)).astype("<i4")  # over 1 MiB
    few[71] = rng.integers(0, 9, 50000).astype("<i4")
    ragged(codec, few, (1, 64, 150, 1000))
# Beyond 65535 members a zip is another kind of zip.
ragged("raw", [np.full(1 + i % 3, i, "<u4") for i in range(66000)],
       (65534, 65535))
