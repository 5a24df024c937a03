#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""-o layout: what of a container is shown, and where."""
from common import *

array = np.arange(60, dtype="<i2").reshape(20, 3)
c = make_dense("c", array)
files = [f"{i:06}.npy" for i in range(20)]
full = ["all.npy", "batches", "info.json", "records", "text",
        "gather", "stats.json"]
for layout, root in (("full", full), ("records", ["records"]),
                     ("flat", files)):
    with Mount(c, "-o", f"layout={layout}") as p:
        check(set(root) <= set(os.listdir(p)) and
              (layout == "full" or len(root) == len(os.listdir(p))),
              f"{layout}: {os.listdir(p)}")
        for name in full:
            check(os.path.exists(f"{p}/{name}") == (name in root),
                  f"{layout}: {name}")
        folder = p if layout == "flat" else f"{p}/records"
        check(sorted(os.listdir(folder)) == files, f"{layout}: records")
        for i, name in enumerate(files):
            check(read(f"{folder}/{name}") == npy(array[i]), f"{layout} {i}")
            check(read(f"{folder}/{i}.npy") == npy(array[i]), f"{layout} {i}")
        folders = sum(os.path.isdir(f"{p}/{n}") for n in os.listdir(p))
        check(os.stat(p).st_nlink == 2 + folders, f"{layout}: links")
        check(os.stat(f"{folder}/..").st_ino == os.stat(
            p if layout != "flat" else os.path.dirname(p)).st_ino, "..")
point = tempfile.mkdtemp(dir=WORK)
p = quiet(FS, "-o", "layout=half", c, point)
check(p.returncode == 1 and "layout=half" in p.stderr, p.stderr)
