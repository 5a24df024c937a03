#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Any part of any file, in any order, from any number of readers at a time,
is what it should be; also after the kernel forgot what it had read."""
import threading

from common import *

rng = np.random.default_rng(3)
# Compressible, and different everywhere.
base = (np.arange(400000, dtype="<u4") * 2654435761 >> 20).astype("<u2")


def files_of(point, want):
    return [(f"{point}/{name}", data) for name, data in want.items()]


def odd_reads(path, want, rounds):
    fd = os.open(path, os.O_RDONLY)
    try:
        step = 1
        for off in list(range(0, 300)) + [4095, 4096, 4097, 131071, 131072]:
            check(os.pread(fd, step, off) == want[off:off + step],
                  f"{path}: {step} bytes at {off}")
            step = step * 3 % 70001
        for _ in range(rounds):
            off = int(rng.integers(0, len(want) + 10))
            n = int(rng.integers(0, 300000))
            check(os.pread(fd, n, off) == want[off:off + n],
                  f"{path}: {n} bytes at {off}")
        check(os.pread(fd, 10, len(want)) == b"", f"{path}: past the end")
        check(os.lseek(fd, 0, os.SEEK_END) == len(want), f"{path}: end")
        check(os.lseek(fd, 0, os.SEEK_DATA) == 0, f"{path}: SEEK_DATA")
        check(os.lseek(fd, 0, os.SEEK_HOLE) == len(want), f"{path}: HOLE")
    finally:
        os.close(fd)


def direct(path, want):
    """O_DIRECT goes past the page cache: each READ is as asked."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        for n in (1, 127, 128, 129, 511, 4097, 131073, 1 << 20):
            for off in (0, 1, 127, 128, 129, 4095, len(want) - 3):
                check(os.pread(fd, n, off) == want[off:off + n],
                      f"{path}: direct {n} at {off}")
    finally:
        os.close(fd)


def many_readers(pairs, count):
    wrong = []

    def reader(seed):
        order = np.random.default_rng(seed)
        for _ in range(40):
            path, want = pairs[order.integers(0, len(pairs))]
            try:
                if order.integers(0, 2):
                    ok = read(path) == want
                else:
                    off = int(order.integers(0, len(want)))
                    with open(path, "rb", buffering=0) as f:
                        ok = os.pread(f.fileno(), 50000, off) == \
                            want[off:off + 50000]
            except OSError as e:
                ok = not wrong.append(e)
            if not ok:
                wrong.append(path)

    threads = [threading.Thread(target=reader, args=(i,))
               for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(not wrong, f"{count} readers: {wrong[:3]}")


def contents(kind, arrays):
    want = {f"records/{i:06}.npy": npy(a) for i, a in enumerate(arrays)}
    if kind == "dense":
        want["all.npy"] = npy(np.stack(arrays))
        want["batches/4/000001.npy"] = npy(np.stack(arrays[4:8]))
    return want


small = [base[i:i + 600].reshape(20, 30) for i in range(40)]
large = [base[i:i + 390000].reshape(3, 130000) for i in range(12)]
mixed = [base[i:i + 1 + i * i * 300] for i in range(30)]
for kind, arrays, label in (("dense", small, "small"),
                            ("dense", large, "large"),
                            ("ragged", mixed, "mixed")):
    for codec in ("raw", "zstd"):
        name = f"{kind}_{label}_{codec}"
        make = make_ragged if kind == "ragged" else \
            lambda n, a, c: make_dense(n, np.stack(a), c)
        c = make(name, arrays, codec)
        want = contents(kind, arrays)
        # A cache of nothing, of less than a record, and the usual one.
        for options in (("-s", "-o", "cache_mb=0"),
                        ("-o", "threads=8,cache_mb=1"), ("-f",)):
            with Mount(c, *options) as p:
                pairs = files_of(p, want)
                for path, data in pairs[:2] + pairs[-3:]:
                    odd_reads(path, data, 20)
                    direct(path, data)
                drop_caches()
                many_readers(pairs, 8)
                if drop_caches():
                    many_readers(pairs, 3)
