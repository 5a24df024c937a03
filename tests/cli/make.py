# SPDX-License-Identifier: BSD-2-Clause
"""Makes the input files of the cases in tests/cli, and what must come out,
without numpy.

    make.py npy FILE DESCR SHAPE [fortran|pad16|v2]   an array, as a .npy file
    make.py pair FILE OUT DESCR SHAPE [HOW]   the same, and its items as
                                      `cat --as npy` has them, in OUT
    make.py rows DIR DESCR SHAPE      its items, as `export --as dir` has them
    make.py each DIR DESCR SHAPE...   a folder, one .npy for each shape
    make.py npz FILE DESCR SHAPE...   the same as members arr_0.npy ...
                                      (+d: deflated, +F: Fortran order, +64:
                                      zip64 and sizes after the data)
    make.py header FILE TEXT [HEX]    a .npy file with this header and data
    make.py npzrows DIR FILE          members of a .npz as one file each

A shape is 3,4 or - for (). Elements are random bytes that depend on DESCR and
SHAPE only: two calls make the same array.
"""
import array
import io
import os
import random
import struct
import sys
import zipfile

WIDTH = {"U": 4}


def itemsize(descr):
    kind, digits = descr[1], descr[2:].split("[")[0]
    return int(digits) * WIDTH.get(kind, 1)


def shape_of(text):
    return () if text == "-" else tuple(int(d) for d in text.split(","))


def count_of(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def data_of(descr, shape):
    rng = random.Random(f"{descr} {shape}")
    return rng.randbytes(count_of(shape) * itemsize(descr))


def fortran(data, shape, size):
    """The elements in Fortran order: for each place in an item, with its
    first axis the fastest, that element of all items."""
    if not data or not shape:
        return data
    width = count_of(shape[1:])
    places, step = [0], 1
    for d in reversed(shape[1:]):
        places = [p + i * step for p in places for i in range(d)]
        step *= d
    code = {1: "B", 2: "H", 4: "I", 8: "Q"}.get(size)
    if code:
        all_of = array.array(code, data)
        return b"".join(all_of[p::width].tobytes() for p in places)
    return b"".join(data[i * size:(i + 1) * size] for p in places
                    for i in range(p, shape[0] * width, width))


def head(descr, shape, order=False, how=""):
    dims = "".join(f"{d}, " for d in shape)
    dims = dims[:-2] if len(shape) > 1 else dims[:-1]
    text = f"{{'descr': '{descr}', 'fortran_order': {order}, " \
           f"'shape': ({dims}), }}".encode()
    grow = 21 - len(str(shape[-1 if order else 0])) if shape else 0
    prefix, align = (12 if how == "v2" else 10), (16 if how == "pad16" else 64)
    if how == "pad16":
        grow = 0
    pad = align - (prefix + len(text) + grow + 1) % align
    text += b" " * (grow + pad) + b"\n"
    if how == "v2":
        return b"\x93NUMPY\x02\x00" + struct.pack("<I", len(text)) + text
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def npy(descr, shape, how=""):
    data = data_of(descr, shape)
    if how == "fortran":
        data = fortran(data, shape, itemsize(descr))
    return head(descr, shape, how == "fortran", how) + data


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def rows(folder, descr, shape):
    data = data_of(descr, shape)
    width = count_of(shape[1:]) * itemsize(descr)
    digits = max(6, len(str(shape[0] - 1)))
    os.mkdir(folder)
    for i in range(shape[0]):
        write(f"{folder}/{i:0{digits}}.npy",
              head(descr, shape[1:]) + data[i * width:(i + 1) * width])


def pair(path, out, descr, shape, *how):
    write(path, npy(descr, shape, *how))
    data, head_ = data_of(descr, shape), head(descr, shape[1:])
    width = count_of(shape[1:]) * itemsize(descr)
    write(out, b"".join(head_ + data[i * width:(i + 1) * width]
                        for i in range(shape[0])))


def npz(path, descr, specs):
    class Pipe(io.RawIOBase):
        """Not seekable, so that sizes come after the data."""
        def __init__(self, f):
            self.f = f

        def writable(self):
            return True

        def write(self, b):
            return self.f.write(b)

    raw = open(path, "wb")
    out = Pipe(raw) if any("+64" in s for s in specs) else raw
    with zipfile.ZipFile(out, "w") as z:
        for i, spec in enumerate(specs):
            shape, *flags = spec.split("+")
            info = zipfile.ZipInfo(f"arr_{i}.npy")
            info.compress_type = zipfile.ZIP_DEFLATED if "d" in flags \
                else zipfile.ZIP_STORED
            with z.open(info, "w", force_zip64="64" in flags) as f:
                f.write(npy(descr, shape_of(shape),
                            "fortran" if "F" in flags else ""))
    raw.close()


def main(what, path, *args):
    if what == "npy":
        write(path, npy(args[0], shape_of(args[1]), *args[2:]))
    elif what == "pair":
        pair(path, args[0], args[1], shape_of(args[2]), *args[3:])
    elif what == "rows":
        rows(path, args[0], shape_of(args[1]))
    elif what == "each":
        os.mkdir(path)
        for i, shape in enumerate(args[1:]):
            write(f"{path}/{i:06}.npy", npy(args[0], shape_of(shape)))
    elif what == "npz":
        npz(path, args[0], args[1:])
    elif what == "header":
        text = args[0].encode("latin-1") + b"\n"
        write(path, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text
              + bytes.fromhex(args[1] if len(args) > 1 else ""))
    elif what == "npzrows":
        os.mkdir(path)
        with zipfile.ZipFile(args[0]) as z:
            assert z.testzip() is None
            for i, name in enumerate(z.namelist()):
                assert name == f"arr_{i}.npy", name
                write(f"{path}/{i:06}.npy", z.read(name))
    else:
        sys.exit(f"make.py: {what}?")


main(*sys.argv[1:])
