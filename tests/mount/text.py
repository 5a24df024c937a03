#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""text/: records as numbers, the same as `zrecord cat`, that numpy.loadtxt
reads; a bad record is an error of its own."""
import errno

from common import *

ZRECORD = os.environ["ZRECORD"]
array = np.arange(120, dtype="<f4").reshape(20, 2, 3) / 7
ragged = [np.arange(1 + i, dtype="<i8") * -3 for i in range(20)]
large = np.arange(300000, dtype="<i4").reshape(3, 100000)
cases = [(make_dense("raw", array), array),
         (make_dense("zstd", array, "zstd"), array),
         (make_ragged("ragged", ragged, "zstd"), ragged),
         (make_dense("large", large), large)]
for c, rows in cases:
    for options in ((), ("-o", "push=off,cache_mb=0")):
        with Mount(c, *options) as p:
            names = sorted(os.listdir(f"{p}/text"))
            check(names == [f"{i:06}.txt" for i in range(len(rows))],
                  f"{c}: {names[:3]}")
            for i, row in enumerate(rows):
                path = f"{p}/text/{names[i]}"
                text = read(path)
                check(len(text) == os.stat(path).st_size, f"{path}: size")
                back = np.loadtxt(path, dtype=row.dtype, ndmin=row.ndim)
                check((back == row).all(), f"{path}: {text[:50]}")
            check(read(f"{p}/text/1.txt") == read(f"{p}/text/{names[1]}"),
                  "other padding")
            check(os.stat(f"{p}/text/1.txt").st_ino !=
                  os.stat(f"{p}/records/1.npy").st_ino, "inodes")
            for wrong in ("000001.npy", f"{len(rows)}.txt", "1", "-1.txt"):
                check(not os.path.lexists(f"{p}/text/{wrong}"), wrong)
            out = subprocess.run([ZRECORD, "cat", c, "1"], timeout=PATIENCE,
                                 capture_output=True)
            if out.returncode == 0 and b"NUMPY" not in out.stdout[:8]:
                check(out.stdout == read(f"{p}/text/1.txt"), "zrecord cat")

c = cases[0][0]
with open(f"{c}/meta.zr", "r+b") as f:
    f.seek(4096 + 16 * 7)
    f.write(struct.pack("<Q", 1 << 50))
with Mount(c) as p:
    for i in range(20):
        try:
            np.loadtxt(f"{p}/text/{i}.txt")
            check(i != 7, "a bad record is served")
        except OSError as e:
            check((i, e.errno) == (7, errno.EIO), f"{i}: {e}")
