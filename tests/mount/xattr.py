#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""-o xattr: dtype, shape, codec and index of a file; without it, none."""
import errno

from common import *

NAMES = {f"user.zrecord.{n}" for n in ("dtype", "shape", "codec", "index")}


def attrs(path):
    return {n: os.getxattr(path, n).decode() for n in os.listxattr(path)}


def outcome(path, name):
    try:
        return os.getxattr(path, name)
    except OSError as e:
        return errno.errorcode[e.errno]


def want(shape, dtype, codec, index=None):
    out = {"user.zrecord.dtype": dtype, "user.zrecord.codec": codec,
           "user.zrecord.shape": json.dumps(list(shape))}
    if index is not None:
        out["user.zrecord.index"] = str(index)
    return out


array = np.arange(60, dtype=">i2").reshape(10, 3, 2)
c = make_dense("c", array, "zstd")
with Mount(c, "-o", "xattr") as p:
    for i in (0, 9):
        for name in (f"records/{i}.npy", f"text/{i}.txt"):
            check(attrs(f"{p}/{name}") == want((3, 2), ">i2", "zstd", i), name)
    check(attrs(f"{p}/batches/4/2.npy") == want((2, 3, 2), ">i2", "zstd"), "b")
    check(attrs(f"{p}/gather/1,1,1.npy") == want((3, 3, 2), ">i2", "zstd"),
          "gather")
    check(attrs(f"{p}/all.npy") == want((10, 3, 2), ">i2", "zstd"), "all.npy")
    for name in ("info.json", "stats.json", "records", ""):
        check(os.listxattr(f"{p}/{name}") == [], name)
        check(outcome(f"{p}/{name}", "user.zrecord.dtype") == "ENODATA", name)
    for name in ("user.zrecord.x", "user.dtype", "security.selinux",
                 "user.zrecord."):
        check(outcome(f"{p}/records/1.npy", name) in ("ENODATA", "ENOTSUP"),
              f"{name}: {outcome(f'{p}/records/1.npy', name)}")
    small = ctypes.create_string_buffer(3)
    got = libc.getxattr(f"{p}/records/1.npy".encode(), b"user.zrecord.shape",
                        small, 3)
    check(got == -1 and ctypes.get_errno() == errno.ERANGE, "a small buffer")
scalars = make_dense("scalars", np.arange(4, dtype="|u1"))
with Mount(scalars, "-o", "xattr") as p:
    check(attrs(f"{p}/records/2.npy") == want((), "|u1", "raw", 2), "scalar")
    check(attrs(f"{p}/all.npy") == want((4,), "|u1", "raw"), "of scalars")
rows = [np.zeros((i + 1, 7), "<f4") for i in range(5)]
ragged = make_ragged("ragged", rows)
with Mount(ragged, "-o", "xattr") as p:
    for i in range(5):
        check(attrs(f"{p}/records/{i}.npy") == want((i + 1, 7), "<f4", "raw",
                                                    i), f"ragged {i}")
    check(os.listxattr(f"{p}/batches/2/0.npz") == [], "a zip is no array")
with Mount(c) as p:
    check(outcome(f"{p}/records/1.npy", "user.zrecord.dtype") == "ENOTSUP",
          "without -o xattr")
    try:
        check(os.listxattr(f"{p}/records/1.npy") == [], "without")
    except OSError as e:
        check(e.errno == errno.ENOTSUP, f"without: {e}")
