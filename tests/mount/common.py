# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of the mount share: mounts that are always taken down, and
containers written here, byte by byte, so that no code of ours is between."""
import atexit
import ctypes
import ctypes.util
import functools
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    if os.environ.get("PYTHON") and not os.environ.get("TEST_REEXEC"):
        os.environ["TEST_REEXEC"] = "1"
        os.execv(os.environ["PYTHON"], [os.environ["PYTHON"]] + sys.argv)
    print("skipped: no numpy")
    sys.exit(77)

FS = os.environ["ZRECORDFS"]
DATA = os.environ["DATA"]
with open(FS, "rb") as program:
    # Slower, and what is freed stays resident for a while.
    SANITIZED = b"__asan_init" in program.read()
WORK = tempfile.mkdtemp(prefix="zrmount-")
libc = ctypes.CDLL(None, use_errno=True)
GETDENTS = 217 if os.uname().machine == "x86_64" else 61
# Under a sanitizer everything is slower.
PATIENCE = 60


def fail(what):
    print("FAIL", what)
    sys.exit(1)


def check(ok, what):
    if not ok:
        fail(what)


def quiet(*cmd, timeout=PATIENCE, **more):
    return subprocess.run(cmd, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=timeout, **more)


def c_call(name, *args):
    r = getattr(libc, name)(*args)
    if r < 0:
        e = ctypes.get_errno()
        raise OSError(e, f"{name}: {os.strerror(e)}")
    return r


def getdents(fd, size):
    """The next entries as (name, inode, offset, type), from one call with
    `size` bytes of room."""
    buf = ctypes.create_string_buffer(size)
    n = c_call("syscall", GETDENTS, fd, buf, size)
    at, out = 0, []
    while at < n:
        ino, off, length, kind = struct.unpack_from("<QqHB", buf.raw, at)
        name = buf.raw[at + 19:at + length].split(b"\0", 1)[0].decode()
        out.append((name, ino, off, kind))
        at += length
    return out


def listing(fd, size):
    """All entries of a folder; `size` may be a function that gives sizes."""
    os.lseek(fd, 0, os.SEEK_SET)
    out = []
    while piece := getdents(fd, size() if callable(size) else size):
        out += piece
    return out


def wait_until(condition, seconds=PATIENCE / 3):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def is_mounted(point):
    """Asks the kernel, not the mount: that may hang."""
    with open("/proc/self/mountinfo", encoding="utf-8",
              errors="replace") as f:
        return any(row.split()[4] == point.replace(" ", "\\040") for row in f)


def drivers(point):
    """Processes that were started to serve `point`."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                args = f.read().split(b"\0")
            with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
                state = f.read().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if state != "Z" and args[0] == FS.encode() and point.encode() in args:
            found.append(int(pid))
    return found


def driver_of(point):
    """Without the process that unmounts for it."""
    found = []
    for pid in drivers(point):
        with open(f"/proc/{pid}/comm", encoding="ascii") as f:
            if f.read() == "zrecordfs\n":
                found.append(pid)
    check(len(found) == 1, f"{point} has the drivers {found}")
    return found[0]


class Mount:
    """A mount, in the background or (with -f) in the foreground."""

    def __init__(self, container, *options):
        self.path = tempfile.mkdtemp(prefix="m-", dir=WORK)
        self.command = [FS, *options, container, self.path]
        self.foreground = "-f" in options
        self.process = None
        self.log = os.path.join(WORK, os.path.basename(self.path) + ".log")

    def __enter__(self):
        atexit.register(self.clear)
        if self.foreground:
            with open(self.log, "wb") as log:
                self.process = subprocess.Popen(
                    self.command, stdin=subprocess.DEVNULL, stdout=log,
                    stderr=log)
            ready = wait_until(lambda: is_mounted(self.path) or
                               self.process.poll() is not None)
            check(ready and is_mounted(self.path), f"{self.command}: "
                  f"{self.text()}")
        else:
            p = quiet(*self.command)
            check(p.returncode == 0, f"{self.command}: exit status "
                  f"{p.returncode}: {p.stderr}")
            check(not p.stderr, f"{self.command} says {p.stderr}")
            check(is_mounted(self.path), f"{self.command}: not mounted")
        return self.path

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read()

    def clear(self):
        if is_mounted(self.path):
            quiet("fusermount3", "-uz", self.path)

    def __exit__(self, kind, *rest):
        if kind:
            self.clear()
            return
        p = quiet("fusermount3", "-u", self.path)
        check(p.returncode == 0, f"unmount: {p.stderr}")
        if self.process:
            check(self.process.wait(PATIENCE) == 0, f"{self.command}: exit "
                  f"status {self.process.returncode}: {self.text()}")
        check(wait_until(lambda: not drivers(self.path)),
              f"{self.command}: the driver stays")
        os.rmdir(self.path)


@atexit.register
def remove_work():
    shutil.rmtree(WORK, ignore_errors=True)


def golden():
    with open(f"{DATA}/golden/manifest.json", encoding="utf-8") as f:
        return json.load(f)["containers"]


def drop_caches():
    """True if the kernel forgot what it had read."""
    os.sync()
    try:
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
            f.write("3")
    except OSError:
        return False
    return True


def stats(point):
    time.sleep(0.2)  # what the kernel has read of it is dropped by then
    return json.loads(read(f"{point}/stats.json"))


# ---- Containers (docs/FORMAT.md) ------------------------------------------

@functools.cache
def libzstd():
    lib = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    lib.ZSTD_compressBound.restype = lib.ZSTD_compress.restype = ctypes.c_size_t
    lib.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    lib.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t,
                                  ctypes.c_char_p, ctypes.c_size_t,
                                  ctypes.c_int]
    return lib


def zstd(data):
    lib = libzstd()
    room = lib.ZSTD_compressBound(len(data))
    out = ctypes.create_string_buffer(room)
    n = lib.ZSTD_compress(out, room, bytes(data), len(data), 1)
    return out.raw[:n]


def packed(value):
    """MsgPack of what a schema holds."""
    if isinstance(value, str):
        return bytes([0xd9, len(value)]) + value.encode()
    if isinstance(value, int):
        return b"\xcf" + struct.pack(">Q", value)
    if isinstance(value, tuple):
        return b"\xdc" + struct.pack(">H", len(value)) + \
            b"".join(map(packed, value))
    return bytes([0x80 | len(value)]) + \
        b"".join(packed(k) + packed(v) for k, v in value.items())


def write_container(path, schema, records, codec):
    os.mkdir(path)
    schema, table, tail = packed(schema), [], 0
    with open(f"{path}/data.zr", "wb") as data:
        for r in records:
            stored = zstd(r) if codec == "zstd" else r
            table.append(struct.pack("<QII", tail, len(stored), len(r)))
            tail += data.write(stored)
    head = struct.pack("<QQI11xB", len(table), tail, len(schema),
                       1 if codec == "zstd" else 0) + schema
    with open(f"{path}/meta.zr", "wb") as meta:
        meta.write(head.ljust(4096, b"\0") + b"".join(table))
    return path


def make_dense(name, array, codec="raw"):
    """A container whose record i is array[i]."""
    return write_container(
        os.path.join(WORK, name),
        {"dtype": array.dtype.str, "item_shape": tuple(array.shape[1:])},
        (row.tobytes() for row in array), codec)


def make_ragged(name, arrays, codec="raw"):
    return write_container(
        os.path.join(WORK, name), {"dtype": arrays[0].dtype.str},
        (bytes([a.ndim]) + struct.pack(f"<{a.ndim}Q", *a.shape) + a.tobytes()
         for a in arrays), codec)


def npy(array):
    """What numpy.save writes."""
    import io
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def read(path):
    with open(path, "rb") as f:
        return f.read()
