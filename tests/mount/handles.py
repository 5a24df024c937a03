#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""File handles, as an NFS server keeps them, outlive the kernel's memory of
the file, and the mount."""
import errno

from common import *

AT_FDCWD, ROOM = -100, 128


def handle_of(path):
    buf = ctypes.create_string_buffer(struct.pack("II", ROOM, 0), 8 + ROOM)
    mount_id = ctypes.c_int()
    if libc.name_to_handle_at(AT_FDCWD, path.encode(), buf,
                              ctypes.byref(mount_id), 0) < 0:
        e = ctypes.get_errno()
        if e == errno.EOPNOTSUPP:
            print("skipped: this kernel gives no handles on FUSE")
            sys.exit(77)
        fail(f"name_to_handle_at: {os.strerror(e)}")
    return buf.raw


def open_handle(point, handle):
    at = os.open(point, os.O_RDONLY)
    fd = libc.open_by_handle_at(at, handle, os.O_RDONLY)
    e = ctypes.get_errno()
    os.close(at)
    if fd < 0:
        raise OSError(e, "open_by_handle_at")
    return fd


if os.getuid() != 0:
    print("skipped: only root may open handles")
    sys.exit(77)
# A folder is found again by its name in a listing: sizes that batches/ does not
# list are not; files in them are.
array = np.arange(600, dtype="<i4").reshape(300, 2)
c = make_dense("c", array)
names = ("records/000007.npy", "batches/7/000001.npy", "all.npy", "records",
         "batches/256", "info.json")
with Mount(c) as p:
    handles = {n: handle_of(f"{p}/{n}") for n in names}
for _ in range(2):
    with Mount(c) as p:
        drop_caches()
        for name, handle in handles.items():
            try:
                fd = open_handle(p, handle)
            except OSError as e:
                if e.errno in (errno.EPERM, errno.EACCES):
                    print("skipped: opening handles is not allowed here")
                    quiet("fusermount3", "-uz", p)
                    sys.exit(77)
                fail(f"{name}: {e}")
            if os.path.isdir(f"{p}/{name}"):
                check(sorted(os.listdir(fd)) ==
                      sorted(os.listdir(f"{p}/{name}")), name)
            else:
                check(os.pread(fd, 1 << 20, 0) == read(f"{p}/{name}"), name)
            check(os.fstat(fd).st_ino == os.stat(f"{p}/{name}").st_ino, name)
            os.close(fd)

# A selection is forgotten with its last user: then its handle is stale, also
# when the selection is there again, and in another mount.
with Mount(c) as p:
    with open(f"{p}/gather/7,0:9.npy", "rb") as f:
        handle = handle_of(f"{p}/gather/7,0:9.npy")
        if drop_caches():
            for again in range(2):
                fd = open_handle(p, handle)
                check(os.read(fd, 1 << 20) == npy(array[[7, *range(9)]]),
                      "handle of a selection")
                os.close(fd)
                drop_caches()
        check(f.read() == npy(array[[7, *range(9)]]), "selection in use")
    handle = handle_of(f"{p}/gather/7,0:9.npy")
    if drop_caches():
        check(wait_until(lambda: drop_caches() and
                         not stats(p)["selections"]), "is kept")
        try:
            os.close(open_handle(p, handle))
            fail("a handle of a selection that is forgotten")
        except OSError as e:
            check(e.errno == errno.ESTALE, f"forgotten selection: {e}")
        os.stat(f"{p}/gather/7,0:9.npy")
        try:
            os.close(open_handle(p, handle))
            fail("an old handle of a selection that is looked up again")
        except OSError as e:
            check(e.errno == errno.ESTALE, f"selection anew: {e}")

# A handle of a record that another container does not have is stale.
short = make_dense("short", array[:3])
with Mount(short) as p:
    try:
        os.close(open_handle(p, handles["records/000007.npy"]))
        fail("a handle of a record that is not there")
    except OSError as e:
        check(e.errno == errno.ESTALE, f"stale handle: {e}")
