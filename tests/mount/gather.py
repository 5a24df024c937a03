#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""gather/SELECTION.npy is numpy's own indexing, .npz that of a list; the
driver forgets a selection once the kernel does."""
import errno
import io
import mmap
import threading
import zipfile

from common import *

rng = np.random.default_rng(8)
N = 300


def ids_of(text):
    """By Python's own rules."""
    out = []
    for item in text.split(","):
        if ":" in item:
            out += range(N)[slice(*(int(x) if x.strip() else None
                                    for x in item.split(":")))]
        else:
            out.append(int(item))
    return out


def outcome(path):
    try:
        return os.stat(path).st_size
    except OSError as e:
        return errno.errorcode[e.errno]


GOOD = ["5", "0,5,2", "100:200", "::-1", ":", "7,7,7", "299:0:-13",
        "0:300:299,1:1000000000000000000000", "10:20,3,::50", "5:5", "7:3",
        "000042", " 1 , 2 ", ",".join(map(str, rng.integers(0, N, 60))),
        ",".join("::-1" for _ in range(50))]
BAD = ["", ",", "1,", ",1", "300", "0,300", "-1", "-3:", ":-1", "a", "1:2:0",
       "1:2:3:4", "+1", "0x1", "1e1", "1.5", "1;2", "1-3", "[1]", "*",
       "99999999999999999999", "1\n"]


def names(p, suffix, other):
    check(os.listdir(f"{p}/gather") == [], "gather/ lists something")
    st = os.stat(f"{p}/gather")
    check(st.st_mode == 0o40555 and st.st_nlink == 2, f"gather/: {st}")
    for text in BAD:
        for _ in range(2):
            check(outcome(f"{p}/gather/{text}{suffix}") == "ENOENT",
                  f"{text!r}: {outcome(f'{p}/gather/{text}{suffix}')}")
    for name in ("5", "5" + other, "5" + suffix + suffix, "5.NPY", suffix[1:],
                 "x" + suffix, "5 " + suffix + " "):
        check(outcome(f"{p}/gather/{name}") == "ENOENT", f"{name!r}")
    text = ("0" * 250 + "7" + suffix)
    check(len(text) == 255 and outcome(f"{p}/gather/{text}") ==
          outcome(f"{p}/gather/7{suffix}"), "a name of 255 bytes")
    check(outcome(f"{p}/gather/0{text}") == "ENAMETOOLONG", "of 256 bytes")
    check(outcome(f"{p}/gather/5{suffix}/x") == "ENOTDIR", "below a file")
    ino = os.stat(f"{p}/gather/5,6{suffix}").st_ino
    check(os.stat(f"{p}/gather/5,6{suffix}").st_ino == ino, "same number")
    check(os.stat(f"{p}/gather/6,5{suffix}").st_ino != ino, "other number")


def dense(codec, array):
    c = make_dense(f"dense_{codec}_{array.shape[1]}", array, codec)
    with Mount(c, "-o", "cache_mb=1") as p:
        names(p, ".npy", ".npz")
        for text in GOOD:
            want = npy(array[ids_of(text)])
            path = f"{p}/gather/{text}.npy"
            check(read(path) == want, f"{codec}: {text}")
            check(os.stat(path).st_size == len(want), f"{codec}: {text}: size")
            check(np.load(path).shape[0] == len(ids_of(text)), text)
        m = np.load(f"{p}/gather/::-1.npy", mmap_mode="r")
        for i in rng.integers(0, N, 20):
            check((m[i] == array[N - 1 - i]).all(), f"mapped {i}")
        del m


def ragged(codec, arrays):
    c = make_ragged(f"ragged_{codec}", arrays, codec)
    with Mount(c, "-o", "cache_mb=1") as p:
        names(p, ".npz", ".npy")
        for text in GOOD:
            path = f"{p}/gather/{text}.npz"
            data, want = read(path), [arrays[i] for i in ids_of(text)]
            check(os.stat(path).st_size == len(data), f"{text}: size")
            with zipfile.ZipFile(io.BytesIO(data)) as z:
                check(len(want) > 1000 or z.testzip() is None, f"{text}: sums")
                check(z.namelist() == [f"arr_{i}.npy" for i in
                                       range(len(want))], f"{text}: names")
                for i in range(0, len(want), 1 + len(want) // 100):
                    check(z.read(f"arr_{i}.npy") == npy(want[i]),
                          f"{text}: member {i}")
            with np.load(path) as z:
                check(len(z.files) == len(want), f"{text}: np.load")


for codec in ("raw", "zstd"):
    dense(codec, rng.integers(0, 9, (N, 5)).astype("<i4"))
    dense(codec, rng.integers(0, 9, (N, 3333)).astype("<i4"))
    ragged(codec, [rng.integers(0, 9, tuple(rng.integers(1, 30, 2)))
                   .astype("<i2") for _ in range(N)])

# A file cannot be that large.
big = np.zeros((N, 4), "<f8")
c = make_dense("big", big)
with Mount(c) as p:
    check(outcome(f"{p}/gather/{','.join(['::'] * 60)}.npy") ==
          128 + 60 * big.nbytes, "60 times all")
wide = make_dense("wide", np.zeros((1, 1), "|u1"))
with open(f"{wide}/meta.zr", "r+b") as f:  # records of 2^31 - 1 bytes
    schema = packed({"dtype": "|u1", "item_shape": (2**31 - 1,)})
    table = struct.pack("<QII", 0, 2**20, 2**31 - 1)
    f.write((struct.pack("<QQI11xB", 1, 2**20, len(schema), 1) + schema)
            .ljust(4096, b"\0") + table)
os.truncate(f"{wide}/data.zr", 2**20)
with Mount(wide) as p:
    check(outcome(f"{p}/gather/{','.join('0' * 100)}.npy") ==
          128 + 100 * (2**31 - 1), "100 times 2 GiB")
    check(outcome(f"{p}/records/0.npy") == 128 + 2**31 - 1, "2 GiB")

# Only the records that a READ touches are decoded: one that is bad, far from
# what is read, does no harm.
c = make_dense("one_bad", np.arange(N * 20000, dtype="<i4")
               .reshape(N, 20000), "zstd")
with open(f"{c}/meta.zr", "r+b") as f:
    f.seek(4096 + 16 * 250 + 8)
    f.write(struct.pack("<I", 3))
with Mount(c) as p:
    with open(f"{p}/gather/::.npy", "rb", buffering=0) as f:
        check(len(f.read(4096)) == 4096, "the beginning")
        try:
            os.pread(f.fileno(), 4096, 128 + 250 * 80000 + 100)
            fail("a bad record is served")
        except OSError as e:
            check(e.errno == errno.EIO, f"bad record: {e}")

# Many names at once, of many threads; all are forgotten in the end.
array = np.arange(N * 8, dtype="<i4").reshape(N, 8)
c = make_dense("many", array)
with Mount(c, "-o", "threads=4") as p:
    wrong = []

    def look(seed):
        mine = np.random.default_rng(seed % 4)  # others look up the same
        for _ in range(300):
            ids = mine.integers(0, N, mine.integers(1, 40))
            path = f"{p}/gather/{','.join(map(str, ids))}.npy"
            try:
                if read(path) != npy(array[ids]):
                    wrong.append(path)
            except OSError as e:
                wrong.append(f"{path}: {e}")

    threads = [threading.Thread(target=look, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    while any(t.is_alive() for t in threads):
        drop_caches()
        time.sleep(0.05)
    check(not wrong, f"{len(wrong)} wrong: {wrong[:2]}")
    check(stats(p)["selections"] <= 1200, f"known: {stats(p)}")
    with open(f"{p}/gather/3,1.npy", "rb") as f:
        check(stats(p)["selections"] >= 1, "known: none")
        # Without leave to drop caches nothing is forgotten here.
        if drop_caches():
            check(wait_until(lambda: stats(p)["selections"] == 1),
                  f"not forgotten: {stats(p)}")
        check(f.read() == npy(array[[3, 1]]), "the one that is open")

# A program that never asks for the same: the driver tells the kernel to drop
# what was not used for longest, and what is open goes on. Without that the
# names of one run would take it 60 MiB, and those of all 240.
MIB = 1 << 20
BOUND = 48 * MIB
BOUND *= 8 if SANITIZED else 1


def memory(point):
    with open(f"/proc/{driver_of(point)}/status", encoding="ascii") as f:
        return int(f.read().split("VmHWM:")[1].split()[0]) * 1024


def ask(folder, seed, count, ids):
    """Look up, and now and then read; returns what is wrong."""
    mine, wrong = np.random.default_rng(seed), []
    for i in range(count):
        some = mine.integers(0, N, ids)
        path = f"{folder}/{','.join(map(str, some))}.npy"
        if i % 50:
            if os.stat(path).st_size != 128 + ids * array[0].nbytes:
                wrong.append(f"{path}: size")
        elif read(path) != npy(array[some]):
            wrong.append(path)
    return wrong


def ask_all(folder, jobs):
    """Each in a process of its own, since they are to be fast."""
    children = []
    for job in jobs:
        pid = os.fork()
        if not pid:
            try:
                wrong = ask(folder, *job)
            except OSError as e:
                wrong = [str(e)]
            os.write(2, "".join(f"{w}\n" for w in wrong[:2]).encode())
            os._exit(1 if wrong else 0)
        children.append(pid)
    for pid in children:
        check(os.waitpid(pid, 0)[1] == 0, f"wrong answers: {jobs}")


with Mount(c, "-o", "threads=4") as p:
    for run, jobs in enumerate(([(1, 35000, 60)], [(2, 100000, 2)],
                                [(i, 4500, 60) for i in range(3, 11)])):
        first, second = sorted((f"{p}/gather/{run},1,2.npy",
                                f"{p}/gather/{run},2,1.npy"))
        with open(first, "rb", buffering=0) as f, open(second, "rb") as g, \
                mmap.mmap(g.fileno(), 0, access=mmap.ACCESS_READ) as m:
            ino = os.fstat(f.fileno()).st_ino
            ask_all(f"{p}/gather", jobs)
            peak = memory(p)
            check(peak < BOUND, f"{jobs[0]}: {peak // MIB} MiB")
            check(f.read() == npy(array[[run, 1, 2]]), "open, dropped")
            check(m[:] == npy(array[[run, 2, 1]]), "mapped, dropped")
            check(read(first) == npy(array[[run, 1, 2]]), "asked for again")
            check(os.stat(first).st_ino == ino, "another file, while open")
        known = stats(p)["selections"]
        check(known < 0.8 * sum(j[1] for j in jobs), f"known: {known}")
    # As the working directory, in which names are looked up alone.
    os.chdir(f"{p}/gather")
    ask_all(".", [(20, 35000, 60)])
    check(read("5,6.npy") == npy(array[[5, 6]]), "in the directory")
    os.chdir("/")
    check(memory(p) < BOUND, f"in gather/: {memory(p) // MIB} MiB")
