#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A listing can be taken in pieces of any size, resumed at any entry, and tells
the same as stat."""
import stat as st

from common import *

N = 5000


def look(p):
    folder = f"{p}/records"
    want = [".", ".."] + [f"{i:06}.npy" for i in range(N)]
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    entries = listing(fd, 1 << 16)
    check([e[0] for e in entries] == want, "names in order")
    check(len({e[2] for e in entries}) == len(entries), "offsets differ")
    for size in (48, 100, 333, 4096):
        check(listing(fd, size) == entries, f"listing by {size} bytes")
    # Resume behind any entry, forwards and backwards.
    for i in (0, 1, 2, 100, N, 3, N + 1, 2500, 7):
        os.lseek(fd, entries[i][2], os.SEEK_SET)
        check(getdents(fd, 300)[:3] == entries[i + 1:i + 4][:3] or
              i == N + 1, f"resumed behind entry {i}")
    os.lseek(fd, entries[-1][2], os.SEEK_SET)
    check(getdents(fd, 300) == [], "nothing behind the last")
    for name, ino, _, kind in entries[2:50] + entries[-50:]:
        s = os.stat(f"{folder}/{name}")
        check((s.st_ino, st.S_IFMT(s.st_mode) >> 12) == (ino, kind), name)
    check(entries[0][1] == os.stat(folder).st_ino, "number of .")
    check(entries[1][1] == os.stat(p).st_ino, "number of ..")
    os.close(fd)
    # libc's view of the same: telldir and seekdir.
    libc.opendir.restype = libc.readdir.restype = ctypes.c_void_p
    d = ctypes.c_void_p(libc.opendir(folder.encode()))
    places = []
    libc.telldir.restype = ctypes.c_long
    for _ in range(100):
        places.append(libc.telldir(d))
        libc.readdir(d)
    for i in (50, 3, 99, 0):
        libc.seekdir(d, ctypes.c_long(places[i]))
        e = libc.readdir(d)
        name = ctypes.string_at(e + 19).decode()
        check(name == want[i], f"seekdir to {i}: {name}")
    libc.closedir(d)


def attributes(p):
    """Attributes that come with a listing are those of stat and fstat."""
    for folder in ("records", "", "batches/256"):
        with os.scandir(f"{p}/{folder}") as it:
            for e in list(it)[:300]:
                a = e.stat()
                with_dir = os.open(e.path, os.O_RDONLY)
                b = os.fstat(with_dir)
                os.close(with_dir)
                check(a == b and a.st_ino == e.inode(), f"{e.path}: {a} {b}")
                if e.is_dir():
                    check(st.S_IMODE(a.st_mode) == 0o555, e.path)
                    subs = sum(os.path.isdir(f"{e.path}/{s}") for s in
                               os.listdir(e.path)[:5])
                    check(a.st_nlink == 2 + subs, f"{e.path}: links")
                else:
                    check(st.S_IMODE(a.st_mode) == 0o444, e.path)
                    check(a.st_nlink == 1, f"{e.path}: links")
                    check(a.st_blocks == -(-a.st_size // 512), e.path)
                    check(4096 <= a.st_blksize <= 131072 and
                          a.st_blksize % 4096 == 0, e.path)
                check(a.st_uid == os.getuid() and a.st_gid == os.getgid(),
                      e.path)


raw = make_dense("raw", np.zeros((N, 100), "<i4"))
rag = make_ragged("rag", [np.zeros(1 + i % 77, "<i4") for i in range(N)],
                  "zstd")
for c in (raw, rag):
    for options in ((), ("-s",)):
        with Mount(c, *options) as p:
            look(p)
        with Mount(c, *options) as p:
            attributes(p)
            # A map of a file must survive that its folder is listed.
            m = np.load(f"{p}/records/000009.npy", mmap_mode="r")
            quiet("ls", "-lR", p)
            check(m.sum() == 0, "map during a listing")
            del m
            s = os.statvfs(p)
            check(s.f_files == N and s.f_bfree == 0 and s.f_blocks > 0 and
                  s.f_namemax == 255 and s.f_flag & os.ST_RDONLY, f"{s}")
            meta = os.stat(f"{c}/meta.zr")
            mine = os.stat(f"{p}/records/000000.npy")
            check(mine.st_mtime_ns == meta.st_mtime_ns ==
                  mine.st_ctime_ns == mine.st_atime_ns, "times")
