#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Large files that are read in order, whose next pieces the kernel is told
ahead: the bytes are right whoever reads and however, and nobody waits for
ever."""
import mmap
import random
import threading

from parts import *

rng = np.random.default_rng(6)
# Records of less and of more than what the kernel reads at once, 24 MiB.
small = rng.integers(0, 9, (12000, 2048), dtype="u1")
large = rng.integers(0, 9, (12, 2 << 20), dtype="u1")
odd = rng.integers(0, 9, (160, 150000), dtype="u1")
SMALL = make_dense("small", small, "zstd")
RAW = make_dense("raw", small)
FILES = {
    (SMALL, "all.npy"): npy(small),
    (RAW, "all.npy"): npy(small),
    (make_dense("large", large, "zstd"), "all.npy"): npy(large),
    (make_dense("odd", odd, "zstd"), "all.npy"): npy(odd),
    (SMALL, "batches/5000/1.npy"): npy(small[5000:10000]),
    (SMALL, "gather/::2.npy"): npy(small[::2]),
    (RAW, "gather/::-1.npy"): npy(small[::-1]),
}


def in_order(path, want, step=1 << 20):
    with open(path, "rb", buffering=0) as f:
        at = 0
        while piece := f.read(step):
            check(piece == want[at:at + len(piece)], f"{path}: at {at}")
            at += len(piece)
        check(at == len(want), f"{path}: {at} bytes of {len(want)}")


def mapped(path, want):
    with open(path, "rb") as f:
        with mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as view:
            for at in range(0, len(want), 1 << 18):
                check(view[at:at + (1 << 18)] == want[at:at + (1 << 18)],
                      f"{path}: mapped, at {at}")


def jumping(path, want):
    """Runs from anywhere: most end in the middle."""
    rand = random.Random(8)
    with open(path, "rb", buffering=0) as f:
        for _ in range(30):
            at = f.seek(rand.randrange(len(want)))
            for _ in range(rand.randrange(12)):
                n = rand.randrange(1 << 18)
                check(f.read(n) == want[at:at + n], f"{path}: at {at}")
                at = f.tell()


def together(*readers):
    children = [Child(*r) for r in readers]
    for child in children:
        child.done(90)


@part("each kind of file; some of it comes before it is asked for")
def each():
    for (c, name), want in FILES.items():
        with Mount(c) as p:
            in_order(f"{p}/{name}", want)
            s = stats(p)
            # How much is a race that a busy machine decides.
            check(s["pushed_bytes"] > 0, f"{name}: {s}")
            check(s["requests"]["read"] < len(want) >> 17, f"{name}: {s}")
        with Mount(c, "-o", "push=off") as p:
            in_order(f"{p}/{name}", want)
            check(stats(p)["pushed_bytes"] == 0, "push=off pushes")


@part(".npz of Ragged records: as without")
def npz():
    c = make_ragged("ragged", [row[:1 + 937 * i] for i, row in enumerate(odd)],
                    "zstd")
    with Mount(c, "-o", "push=off") as p:
        want = read(f"{p}/batches/256/0.npz")
    with Mount(c) as p:
        in_order(f"{p}/batches/256/0.npz", want)
        check(stats(p)["pushed_bytes"] > 0, stats(p))


@part("readers of all kinds together; one serving thread, and several")
def readers():
    for options in (("-s",), (), ("-o", "push_mb=1,cache_mb=0")):
        for (c, name), want in FILES.items():
            with Mount(c, *options) as p:
                path = f"{p}/{name}"
                together((in_order, path, want), (in_order, path, want, 70001),
                         (mapped, path, want), (jumping, path, want))


@part("while the kernel forgets what it has")
def forgotten():
    if not drop_caches():
        raise Skip("only root may drop caches")
    for (c, name), want in list(FILES.items())[:3]:
        with Mount(c, "-s") as p:
            stop = threading.Event()

            def forget():
                while not stop.wait(0.01):
                    drop_caches()
            t = threading.Thread(target=forget)
            t.start()
            try:
                in_order(f"{p}/{name}", want)
                mapped(f"{p}/{name}", want)
            finally:
                stop.set()
                t.join()


@part("the end in the middle")
def ended():
    want = FILES[SMALL, "all.npy"]
    for end in ("lazy", "signal"):
        for options in (("-s",), ()):
            m = Mount(SMALL, *options)
            p = m.__enter__()
            with open(f"{p}/all.npy", "rb", buffering=0) as f:
                check(f.read(2 << 20) == want[:2 << 20], "before the end")
                if end == "lazy":
                    quiet("fusermount3", "-uz", p)
                else:
                    os.kill(driver_of(p), signal.SIGTERM)
                check(f.read(1 << 20) == want[2 << 20:3 << 20], "after it")
            check(wait_until(lambda: not drivers(p)), f"{end}: it stays")
