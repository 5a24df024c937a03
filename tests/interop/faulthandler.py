#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Python's faulthandler, enabled after a container was opened, and data files
that are cut while they are mapped: errors for the reader, and no crash; a fault
of Python's own is still reported, once. Prints a line for each case; see
tests/run.
"""
import ctypes as C
import errno
import os
import signal
import subprocess
import sys

import numpy as np

BUILD = os.environ["BUILD"]
PLACE_MAP = 1


class Options(C.Structure):
    _fields_ = [("size", C.c_size_t), ("flags", C.c_uint32),
                ("placement", C.c_int)]


def open_mapped(lib, path):
    container, reader = C.c_void_p(), C.c_void_p()
    opt = Options(C.sizeof(Options), 0, PLACE_MAP)
    assert not lib.zr_open(C.byref(container), path.encode(), C.byref(opt),
                           None)
    assert not lib.zr_reader_new(C.byref(reader), container, None)
    return reader


def read(lib, reader):
    to = np.empty(1024, "<i4")
    return lib.zr_read(reader, C.c_uint64(0), C.c_void_p(to.ctypes.data),
                       C.c_size_t(to.nbytes), None, None, None)


def victim(what):
    import faulthandler
    import mmap

    lib = C.CDLL(BUILD + "/libzrecord.so")
    readers = [open_mapped(lib, "a.zr")]
    faulthandler.enable()
    readers.append(open_mapped(lib, "b.zr"))
    if what == "own fault":
        with open("own", "wb+") as f:
            f.truncate(4096)
            m = mmap.mmap(f.fileno(), 4096)
            f.truncate(0)
            m[0]
    for name in "a.zr", "b.zr":
        os.truncate(name + "/data.zr", 0)
    codes = [read(lib, r) for r in readers]
    print(*codes)
    assert codes == [-errno.EIO, -errno.EIO]


def run(what):
    np.save("source.npy", np.arange(64 * 1024, dtype="<i4").reshape(64, 1024))
    for name in "a.zr", "b.zr":
        subprocess.run(["rm", "-rf", name], check=True)
        subprocess.run([BUILD + "/zrecord", "create", name, "source.npy"],
                       check=True)
    return subprocess.run([sys.executable, __file__, what], timeout=60,
                          capture_output=True, text=True)


def say(ok, name, p):
    print(("ok" if ok else "not ok") + " - faulthandler: " + name)
    if not ok:
        print(p.returncode, p.stdout, p.stderr)


def main():
    if len(sys.argv) > 1:
        victim(sys.argv[1])
        return
    p = run("cut")
    say(p.returncode == 0 and not p.stderr, "cut files are errors", p)
    p = run("own fault")
    say(p.returncode == -signal.SIGBUS and p.stderr.count("Fatal Python") == 1,
        "a fault of Python's own is reported once", p)


main()
