#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every call that would change something says EROFS; calls that make no sense
say what they say on any other file system."""
import errno
import fcntl
import mmap
import socket
import stat

from common import *

AT_FDCWD, RENAME_EXCHANGE = -100, 2


def timespecs():
    return (ctypes.c_long * 4)(1, 0, 1, 0)


def writes(p):
    """What -> a call that must fail with EROFS."""
    f, d = f"{p}/records/000001.npy", f"{p}/records"
    new = f"{d}/new"
    o = os.open
    calls = {
        "open for writing": lambda: o(f, os.O_WRONLY),
        "open for both": lambda: o(f, os.O_RDWR),
        "open to truncate": lambda: o(f, os.O_RDWR | os.O_TRUNC),
        "open to append": lambda: o(f, os.O_WRONLY | os.O_APPEND),
        "create": lambda: o(new, os.O_CREAT | os.O_WRONLY, 0o644),
        "create exclusively": lambda: o(new, os.O_CREAT | os.O_EXCL |
                                        os.O_RDWR, 0o644),
        "create a record": lambda: o(f"{d}/999999.npy", os.O_CREAT |
                                     os.O_WRONLY, 0o644),
        "unnamed file": lambda: o(d, os.O_TMPFILE | os.O_RDWR, 0o600),
        "truncate": lambda: os.truncate(f, 3),
        "truncate to its size": lambda: os.truncate(f, os.stat(f).st_size),
        "unlink": lambda: os.unlink(f),
        "unlink of what is not there": lambda: os.unlink(new),
        "rmdir": lambda: os.rmdir(d),
        "mkdir": lambda: os.mkdir(f"{p}/new"),
        "mkdir of a batch size": lambda: os.mkdir(f"{p}/batches/new"),
        "mknod": lambda: os.mknod(new, stat.S_IFREG | 0o600),
        "mkfifo": lambda: os.mkfifo(new),
        "socket": lambda: bound(new),
        "symlink": lambda: os.symlink("x", new),
        "link": lambda: os.link(f, new),
        "rename": lambda: os.rename(f, new),
        "rename onto a record": lambda: os.rename(f, f"{d}/000002.npy"),
        "rename a folder": lambda: os.rename(d, f"{p}/new"),
        "exchange": lambda: c_call("renameat2", AT_FDCWD, f.encode(), AT_FDCWD,
                                   f"{d}/000002.npy".encode(),
                                   RENAME_EXCHANGE),
        "chmod": lambda: os.chmod(f, 0o644),
        "chmod of a folder": lambda: os.chmod(d, 0o755),
        "chown": lambda: os.chown(f, os.getuid(), os.getgid()),
        "lchown": lambda: os.lchown(f, os.getuid(), os.getgid()),
        "utimensat": lambda: c_call("utimensat", AT_FDCWD, f.encode(),
                                    timespecs(), 0),
        "utime now": lambda: os.utime(f),
        "setxattr": lambda: os.setxattr(f, "user.a", b"b"),
        "setxattr of a folder": lambda: os.setxattr(d, "user.a", b"b"),
        "removexattr": lambda: os.removexattr(f, "user.a"),
        "open_memmap r+": lambda: np.lib.format.open_memmap(f),
        "np.load r+": lambda: np.load(f, mmap_mode="r+"),
        "np.save": lambda: np.save(f, np.zeros(3)),
    }
    for path in (f, d, p, f"{p}/info.json", f"{p}/all.npy", f"{p}/batches",
                 f"{p}/batches/256", f"{p}/batches/256/0.npy"):
        calls[f"access {path[len(p):]}"] = lambda x=path: c_call(
            "access", x.encode(), os.W_OK)
    return calls


def bound(path):
    s = socket.socket(socket.AF_UNIX)
    try:
        # The path of a socket is short.
        os.chdir(os.path.dirname(path))
        s.bind(os.path.basename(path))
    finally:
        s.close()
        os.chdir("/")


def by_descriptor(p):
    """On a file that is open for reading: (what, errno, call)."""
    fd = os.open(f"{p}/records/000001.npy", os.O_RDONLY)
    return fd, [
        ("write", errno.EBADF, lambda: os.write(fd, b"x")),
        ("ftruncate", errno.EINVAL, lambda: os.ftruncate(fd, 0)),
        ("fallocate", errno.EBADF, lambda: os.posix_fallocate(fd, 0, 10)),
        ("fchmod", errno.EROFS, lambda: os.fchmod(fd, 0o644)),
        ("fchown", errno.EROFS, lambda: os.fchown(fd, 0, 0)),
        ("futimens", errno.EROFS, lambda: os.utime(fd)),
        ("fsetxattr", errno.EROFS, lambda: os.setxattr(fd, "user.a", b"b")),
        ("ioctl", errno.ENOTTY, lambda: fcntl.ioctl(fd, 0x5401, b"\0" * 64)),
        ("shared map to write", errno.EACCES,
         lambda: mmap.mmap(fd, 0, mmap.MAP_SHARED,
                           mmap.PROT_READ | mmap.PROT_WRITE)),
        ("openat below a file", errno.ENOTDIR,
         lambda: os.open("x", os.O_RDONLY, dir_fd=fd)),
        ("listdir of a file", errno.ENOTDIR, lambda: os.listdir(fd)),
        ("seek before the start", errno.EINVAL,
         lambda: os.lseek(fd, -1, os.SEEK_SET)),
        ("SEEK_DATA past the end", errno.ENXIO,
         lambda: os.lseek(fd, 1 << 40, os.SEEK_DATA)),
    ]


def others(p):
    f, d = f"{p}/records/000001.npy", f"{p}/records"
    return [
        ("read of a folder", errno.EISDIR,
         lambda: os.read(os.open(d, os.O_RDONLY), 1)),
        ("write to a folder", errno.EISDIR, lambda: os.open(d, os.O_WRONLY)),
        ("readlink", errno.EINVAL, lambda: os.readlink(f)),
        ("O_DIRECTORY of a file", errno.ENOTDIR,
         lambda: os.open(f, os.O_RDONLY | os.O_DIRECTORY)),
        ("execute", errno.EACCES, lambda: os.execv(f, [f])),
        ("access X_OK", errno.EACCES,
         lambda: c_call("access", f.encode(), os.X_OK)),
        ("getxattr", errno.EOPNOTSUPP, lambda: os.getxattr(f, "user.a")),
        ("listxattr", errno.EOPNOTSUPP, lambda: os.listxattr(f)),
        ("mkdir of what is there", errno.EEXIST, lambda: os.mkdir(d)),
        ("open of what is not there", errno.ENOENT,
         lambda: os.open(f"{d}/x", os.O_RDONLY)),
    ]


def expect(what, code, call, also=()):
    try:
        call()
    except OSError as e:
        check(e.errno in (code, *also), f"{what}: "
              f"{errno.errorcode.get(e.errno)}, not {errno.errorcode[code]}")
    else:
        fail(f"{what}: succeeds")


def allowed(p):
    f = f"{p}/records/000001.npy"
    check(os.access(f, os.R_OK) and os.access(p, os.R_OK | os.X_OK), "access")
    with open(f, "rb") as h:
        fcntl.flock(h, fcntl.LOCK_SH)
        fcntl.flock(h, fcntl.LOCK_EX)
        fcntl.lockf(h, fcntl.LOCK_SH)
        os.fsync(h.fileno())
        with mmap.mmap(h.fileno(), 0, mmap.MAP_PRIVATE,
                       mmap.PROT_READ | mmap.PROT_WRITE) as m:
            m[0] = 7
            check(m[0] == 7, "private map")
    check(read(f)[0] == 0x93, "private map reached the file")
    for call in (os.fsync, os.fdatasync, os.fstatvfs):
        fd = os.open(p, os.O_RDONLY)
        call(fd)
        os.close(fd)


c = make_dense("c", np.arange(600, dtype="<i4").reshape(300, 2))
for options in ((), ("-s", "-f")):
    with Mount(c, *options) as p:
        for what, call in writes(p).items():
            # The kernel may look whether an attribute is there at all.
            also = (errno.EOPNOTSUPP,) if what == "removexattr" else ()
            expect(what, errno.EROFS, call, also)
        fd, table = by_descriptor(p)
        for what, code, call in table:
            # Kernels differ in what they look at first.
            also = (errno.EOPNOTSUPP, errno.EROFS) \
                if what in ("fallocate", "fsetxattr") else ()
            expect(what, code, call, also)
        os.close(fd)
        for what, code, call in others(p):
            expect(what, code, call)
        allowed(p)
        # "read of a folder" and the like left descriptors behind.
        os.closerange(3, 256)

# root may make it rw: then the driver answers.
if os.getuid() == 0:
    with Mount(c) as p:
        if quiet("mount", "-o", "remount,rw", p).returncode == 0:
            f, d = f"{p}/records/000001.npy", f"{p}/records"
            rofs = errno.EROFS
            fd = os.open(f, os.O_RDWR)
            expect("rw: write", rofs, lambda: os.pwrite(fd, b"x", 0))
            expect("rw: fallocate", rofs, lambda: os.posix_fallocate(
                fd, 0, 999))
            os.close(fd)
            expect("rw: create", rofs, lambda: os.open(
                f"{d}/x", os.O_CREAT | os.O_WRONLY, 0o644))
            for what, call in {
                    "truncate": lambda: os.truncate(f, 0),
                    "chmod": lambda: os.chmod(f, 0o600),
                    "mknod": lambda: os.mknod(f"{d}/x"),
                    "mkdir": lambda: os.mkdir(f"{d}/x"),
                    "unlink": lambda: os.unlink(f),
                    "rmdir": lambda: os.rmdir(d),
                    "symlink": lambda: os.symlink("a", f"{d}/x"),
                    "link": lambda: os.link(f, f"{d}/x"),
                    "rename": lambda: os.rename(f, f"{d}/x")}.items():
                expect("rw: " + what, rofs, call)
            drop_caches()
            check(np.load(f).tolist() == [2, 3], "rw: contents")
