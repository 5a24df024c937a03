#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every record of the containers of loaderx is the file that numpy.save wrote,
however it is read: whole, by numpy, through a map, alone and in a batch."""
import hashlib
import mmap

from common import *


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and \
        a.tobytes() == b.tobytes()


def one_record(path, want):
    data = read(path)
    check(hashlib.sha256(data).hexdigest() == want["npy_sha256"],
          f"{path}: bytes")
    check(os.stat(path).st_size == len(data), f"{path}: size")
    array = np.load(path)
    check(list(array.shape) == want["shape"], f"{path}: shape")
    check(npy(array)[:10] == data[:10] and npy(array) == data,
          f"{path}: numpy.save writes the same")
    for mode in ("r", "c"):
        check(same(np.load(path, mmap_mode=mode), array), f"{path}: map")
    if array.ndim:
        check(same(np.lib.format.open_memmap(path, mode="r"), array),
              f"{path}: open_memmap")
        tail = np.fromfile(path, array.dtype, offset=len(data) - array.nbytes)
        check(tail.tobytes() == array.tobytes(), f"{path}: fromfile")
    with open(path, "rb") as f, \
            mmap.mmap(f.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ) as m:
        check(m[:] == data, f"{path}: shared map")
    return array


def composed(point, kind, arrays):
    """all.npy and batches/ say the same as the records."""
    batches = sorted(os.listdir(f"{point}/batches/256"))
    check(len(batches) == -(-len(arrays) // 256), f"{point}: {batches} for {len(arrays)}")
    if kind == "ragged":
        got = []
        for b in batches:
            with np.load(f"{point}/batches/256/{b}") as z:
                check(z.files == [f"arr_{i}" for i in range(len(z.files))],
                      f"{b}: names of members")
                got += [z[k] for k in z.files]
        check(len(got) == len(arrays) and all(map(same, got, arrays)),
              f"{point}: .npz")
        return
    whole = np.load(f"{point}/all.npy", mmap_mode="r")
    check(whole.shape[0] == len(arrays), f"{point}: all.npy")
    check(all(map(same, map(np.asarray, whole), arrays)) if whole.ndim > 1
          else whole.tobytes() == b"".join(a.tobytes() for a in arrays),
          f"{point}: all.npy bytes")
    if arrays:
        got = [np.load(f"{point}/batches/256/{b}") for b in batches]
        check(all(b.dtype == whole.dtype and b.shape[1:] == whole.shape[1:]
                  for b in got), f"{point}: shapes of batches")
        check(b"".join(b.tobytes() for b in got) == whole.tobytes(),
              f"{point}: batches")


for number, (name, want) in enumerate(golden().items()):
    # The four ways to run take turns.
    options = ((), ("-f",), ("-s",), ("-f", "-s"))[number % 4]
    with Mount(f"{DATA}/golden/{name}", *options) as point:
        files = os.listdir(f"{point}/records")
        check(files == [f"{i:06}.npy" for i in range(want["count"])],
              f"{name}: names")
        arrays = [one_record(f"{point}/records/{f}", r)
                  for f, r in zip(files, want["records"])]
        composed(point, want["kind"], arrays)
        info = json.loads(read(f"{point}/info.json"))
        p = quiet(os.environ["ZRECORD"], "info", "--json",
                  f"{DATA}/golden/{name}")
        check(p.stdout.encode() == read(f"{point}/info.json"),
              f"{name}: info.json is not what zrecord info --json says")
        check(info["records"] == want["count"] and
              info["kind"] == want["kind"], f"{name}: info.json")
