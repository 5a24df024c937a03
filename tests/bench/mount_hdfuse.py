#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""hdfuse, as it is on PyPI, for `make bench-mount`.

usage: mount_hdfuse.py make DIR COUNT FILE.h5   the first files of DIR, each
                                         a dataset of its bytes
       mount_hdfuse.py mount ROOT DIR           what the command hdfuse
                                         does, without its editor

hdfuse 1.0.2 is older than h5py 3 and numpy 2.3: what they took away is put
back here, or it could not read a single file.
"""
import ctypes.util, os, sys

import h5py
import numpy as np


class Bytes(np.ndarray):
    def tostring(self):
        return self.tobytes()


def make(source, count, path):
    with h5py.File(path, "w") as f:
        group = f.create_group("records")
        for name in sorted(os.listdir(source))[:int(count)]:
            group[name] = np.fromfile(os.path.join(source, name), "u1")


def mount(root, where):
    if not ctypes.util.find_library("fuse"):
        sys.exit("no libfuse 2, which fusepy needs")
    from fuse import FUSE
    from hdfuse.hdfuse import HDFuse5
    h5py.Dataset.value = property(lambda d: np.asarray(d[()]).view(Bytes))
    FUSE(HDFuse5(root), where)


if __name__ == "__main__":
    {"make": make, "mount": mount}[sys.argv[1]](*sys.argv[2:])
