#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A record answers to its number with any padding, and to nothing else."""
import errno

from common import *

container = make_dense("c", np.arange(1200, dtype="<i4").reshape(600, 2))


def errno_of(path):
    try:
        os.stat(path)
    except OSError as e:
        return e.errno
    return 0


with Mount(container, "-o", "batch=256:7") as p:
    ino = os.stat(f"{p}/records/000042.npy").st_ino
    for name in ("42.npy", "042.npy", "0042.npy", "0" * 200 + "42.npy"):
        check(os.stat(f"{p}/records/{name}").st_ino == ino, name)
        check(read(f"{p}/records/{name}") == read(f"{p}/records/000042.npy"),
              name)
    for name in ("", "600.npy", "000600.npy", "+1.npy", "-1.npy", "0x1.npy",
                 "1", "1.npyx", "1.npz", "1.NPY", " 1.npy", "1.npy ", ".npy",
                 "1e1.npy", "18446744073709551617.npy", "9" * 100 + ".npy",
                 "a.npy", "1.npy\n", "٣.npy"):
        if name:
            # Twice: the second answer comes from the kernel's memory.
            for _ in range(2):
                check(errno_of(f"{p}/records/{name}") == errno.ENOENT,
                      f"{name!r} is {errno_of(f'{p}/records/{name}')}")
    check(errno_of(f"{p}/records/{'0' * 252}.npy") == errno.ENAMETOOLONG,
          "name of 256 bytes")
    check(errno_of(f"{p}/records/{'0' * 251}.npy") == 0, "name of 255 bytes")
    check(errno_of(f"{p}/records/1.npy/x") == errno.ENOTDIR, "below a file")
    for name in ("x", "info", "ALL.npy", "record"):
        check(errno_of(f"{p}/{name}") == errno.ENOENT, name)

    # Sizes of batches: the listed ones, and any other on demand.
    check(os.listdir(f"{p}/batches") == ["256", "7"], "listed sizes")
    for size in (1, 3, 600, 601, 2**31):
        check(len(os.listdir(f"{p}/batches/{size}")) == -(-600 // size),
              f"batches of {size}")
    for size in ("0", "00", "0256", "-1", "+7", "2147483649", "x", "7x",
                 "1e2", "99999999999999999999"):
        check(errno_of(f"{p}/batches/{size}") == errno.ENOENT, size)
    check(errno_of(f"{p}/batches/7/85.npy") == 0, "last batch")
    check(errno_of(f"{p}/batches/7/86.npy") == errno.ENOENT, "batch past it")
    check(errno_of(f"{p}/batches/7/0.npz") == errno.ENOENT, "kind of batch")
    check(os.listdir(f"{p}/batches/7")[-1] == "000085.npy", "name of a batch")
    inos = {}
    for folder, dirs, files in os.walk(p):
        for f in files + dirs:
            n = os.stat(f"{folder}/{f}").st_ino
            check(n not in inos, f"{folder}/{f} has the number of "
                  f"{inos.get(n)}")
            inos[n] = f"{folder}/{f}"
    check(os.stat(p).st_ino == 1, "number of the root")

# Numbers stay the same in the next mount.
with Mount(container, "-o", "batch=7:256") as p:
    for path, n in [(k.split("/m-", 1)[1].split("/", 1)[1], v)
                    for v, k in inos.items()]:
        check(os.stat(f"{p}/{path}").st_ino == n, f"{path}: new number")

# Seven digits from a million on.
big = make_dense("big", np.zeros((1000001, 1), "|u1"))
with Mount(big) as p:
    check(errno_of(f"{p}/records/1000000.npy") == 0, "seven digits")
    check(errno_of(f"{p}/records/1000001.npy") == errno.ENOENT, "past them")
    with os.scandir(f"{p}/records") as it:
        check(next(it).name == "0000000.npy", "width of a million names")

empty = make_dense("empty", np.zeros((0, 3, 2), "<f8"))
with Mount(empty) as p:
    check(os.listdir(f"{p}/records") == [], "records of nothing")
    check(os.listdir(f"{p}/batches/256") == [], "batches of nothing")
    check(read(f"{p}/all.npy") == npy(np.zeros((0, 3, 2), "<f8")),
          "all.npy of nothing")
    check(errno_of(f"{p}/records/0.npy") == errno.ENOENT, "record of nothing")
