#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Records that are far larger than the cache, in a small container: however
many readers there are, the driver has about one of them in memory."""
import threading

from common import *

MIB = 1 << 20
LARGE, CACHE, READERS = 128 * MIB, 16, 8
# Code, stacks, a buffer of a READ for each thread.
SMALL = 48 * MIB


def status(point, field):
    with open(f"/proc/{driver_of(point)}/status", encoding="ascii") as f:
        return int(f.read().split(field + ":")[1].split()[0]) * 1024


def parallel(jobs):
    """Run the jobs at once; returns what went wrong."""
    wrong = []

    def run(job):
        try:
            if not job():
                wrong.append("wrong bytes")
        except OSError as e:
            wrong.append(str(e))

    threads = [threading.Thread(target=run, args=(j,)) for j in jobs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return wrong


def all_are(path, head, value):
    """Read a file whole; its bytes behind the header are `value`."""
    with open(path, "rb", buffering=0) as f:
        size, at = os.fstat(f.fileno()).st_size, head
        if len(f.read(head)) != head:
            return False
        while data := f.read(MIB):
            if data != bytes([value]) * len(data):
                return False
            at += len(data)
        return at == size


def some_are(path, head, value, seed):
    """Read slices here and there."""
    rng = np.random.default_rng(seed)
    with open(path, "rb", buffering=0) as f:
        return all(os.pread(f.fileno(), 5000, head + int(at)) ==
                   bytes([value]) * 5000
                   for at in rng.integers(0, LARGE - 5000, 5))


def bounded(p, what, times, jobs, seconds=PATIENCE):
    start = time.monotonic()
    wrong = parallel(jobs)
    check(not wrong, f"{what}: {wrong}")
    took = time.monotonic() - start
    check(took < seconds, f"{what}: took {took:.0f} s")
    peak, bound = status(p, "VmHWM"), times * LARGE + CACHE * MIB + SMALL
    bound *= 8 if SANITIZED else 1
    check(peak < bound, f"{what}: {peak // MIB} MiB, not {bound // MIB}")
    # And not for long.
    check(SANITIZED or
          wait_until(lambda: status(p, "VmRSS") < CACHE * MIB + SMALL),
          f"{what}: keeps {status(p, 'VmRSS') // MIB} MiB")


def frame(prefix, n, value):
    """A zstd frame of `prefix` and n times `value`, by hand: in blocks of one
    byte that is repeated."""
    out = struct.pack("<IBI", 0xFD2FB528, 0xA0, len(prefix) + n)
    if prefix:
        out += struct.pack("<I", len(prefix) << 3)[:3] + prefix
    for at in range(0, n, 1 << 17):
        size = min(1 << 17, n - at)
        head = size << 3 | 1 << 1 | (at + size == n)
        out += struct.pack("<I", head)[:3] + bytes([value])
    return out


def write(name, schema, records):
    """A container of (prefix, n, value)."""
    path = os.path.join(WORK, name)
    os.mkdir(path)
    frames = [frame(*r) for r in records]
    ends = np.cumsum([len(f) for f in frames])
    schema = packed(schema)
    with open(f"{path}/data.zr", "wb") as f:
        f.write(b"".join(frames))
    with open(f"{path}/meta.zr", "wb") as f:
        f.write((struct.pack("<QQI11xB", len(frames), int(ends[-1]),
                             len(schema), 1) + schema).ljust(4096, b"\0"))
        for z, end, (prefix, n, _) in zip(frames, ends, records):
            f.write(struct.pack("<QII", int(end) - len(z), len(z),
                                len(prefix) + n))
    return path


# Rows, and rows in the files that have several.
c = write("dense", {"dtype": "|u1", "item_shape": (LARGE,)},
          [(b"", LARGE, i) for i in range(READERS)])
check(os.stat(f"{c}/data.zr").st_size < MIB, "is not a small container")
for options in ("threads=2", "threads=8"):
    with Mount(c, "-o", f"cache_mb={CACHE},{options}") as p:
        bounded(p, f"records, {options}", 1, [
            lambda i=i: all_are(f"{p}/records/{i}.npy", 128, i)
            for i in range(READERS)])
with Mount(c, "-o", f"cache_mb={CACHE}") as p:
    bounded(p, "slices", 1, [
        lambda i=i: some_are(f"{p}/records/{i}.npy", 128, i, i)
        for i in range(READERS)])
    bounded(p, "batches, gathers", 1, [
        lambda i=i: all_are(f"{p}/batches/1/{i}.npy", 128, i)
        for i in range(4)] + [
        lambda i=i: all_are(f"{p}/gather/{i}.npy", 128, i)
        for i in range(4, 8)])
    check(sum(os.stat(f"{p}/all.npy").st_size for _ in range(3)) > 0, "all")

# A shape in front of each, and small ones among them, which do not wait.
sizes = [LARGE] * READERS + [5] * 56
c = write("ragged", {"dtype": "|u1"},
          [(bytes([1]) + struct.pack("<Q", n), n, i)
           for i, n in enumerate(sizes)])
with Mount(c, "-o", f"cache_mb={CACHE}") as p:
    bounded(p, "one ragged record", 1, [lambda: all_are(
        f"{p}/records/0.npy", 128, 0)])
with Mount(c, "-o", f"cache_mb={CACHE},threads=2") as p:
    slowest = []

    def small():
        for i in range(READERS, 64):
            start = time.monotonic()
            if read(f"{p}/records/{i}.npy")[128:] != bytes([i]) * 5:
                return False
            slowest.append(time.monotonic() - start)
            time.sleep(0.02)
        return True

    bounded(p, "ragged", 1, [
        lambda i=i: all_are(f"{p}/records/{i}.npy", 128, i)
        for i in range(READERS)] + [small])
    # A record is decoded on one of the two threads meanwhile.
    check(max(slowest) < 3, f"a small record took {max(slowest):.1f} s")
    bounded(p, "ragged batches", 1, [
        lambda i=i: len(read(f"{p}/batches/1/{i}.npz")) > LARGE
        for i in range(3)])
