#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every kind of file in a mount is what POSIX calls a file, and every kind of
folder a folder: errors, attributes, listings, maps, sizes over 4 GiB."""
import errno
import fcntl
import mmap
import random
import stat as st
import zipfile

from parts import *

N = 300
rng = np.random.default_rng(11)
dense_rows = rng.integers(0, 1000, (N, 131), dtype="<i4")
ragged_rows = [rng.integers(0, 99, (1 + i * 37 % 2000,), dtype="<i2")
               for i in range(N)]
DENSE = make_dense("dense", dense_rows)
ZSTD = make_dense("zstd", dense_rows, "zstd")
RAGGED = make_ragged("ragged", ragged_rows, "zstd")
FOLDERS = ("", "records", "batches", "batches/256", "batches/7", "gather",
           "text")


def files(many):
    """One file of each kind, some by a name that is not listed."""
    return ["info.json", "stats.json", "records/000003.npy", "records/3.npy",
            f"batches/256/000001.{many}", f"batches/7/42.{many}",
            f"gather/0,5,2.{many}", f"gather/::-7.{many}",
            "text/000003.txt"] + ["all.npy"] * (many == "npy")


KINDS = ((DENSE, files("npy")), (ZSTD, files("npy")), (RAGGED, files("npz")))


def outcome(call):
    """The name of its error, or "0"."""
    try:
        r = call()
    except OSError as e:
        return errno.errorcode[e.errno]
    if isinstance(r, int) and r > 2:
        os.close(r)
    return "0"


def file_calls(p, path, fd):
    """(what, its error, call) for a file that is there, open in `fd`."""
    o, f, new = os.open, f"{p}/{path}", f"{p}/{os.path.dirname(path)}/new"
    size = os.stat(f).st_size
    times = (ctypes.c_long * 4)(1, 0, 1, 0)
    rw = mmap.PROT_READ | mmap.PROT_WRITE
    return [
        ("open to write", "EROFS", lambda: o(f, os.O_WRONLY)),
        ("open for both", "EROFS", lambda: o(f, os.O_RDWR)),
        ("open to append", "EROFS", lambda: o(f, os.O_WRONLY | os.O_APPEND)),
        ("open to truncate", "EROFS", lambda: o(f, os.O_WRONLY | os.O_TRUNC)),
        ("truncate by reader", "EROFS", lambda: o(f, os.O_RDONLY | os.O_TRUNC)),
        ("O_CREAT of what is there", "0",
         lambda: o(f, os.O_RDONLY | os.O_CREAT)),
        ("O_EXCL", "EEXIST", lambda: o(f, os.O_RDWR | os.O_CREAT | os.O_EXCL)),
        ("O_DIRECTORY", "ENOTDIR", lambda: o(f, os.O_DIRECTORY)),
        ("O_NOFOLLOW", "0", lambda: o(f, os.O_NOFOLLOW)),
        ("O_PATH", "0", lambda: o(f, os.O_PATH)),
        ("O_NONBLOCK", "0", lambda: o(f, os.O_NONBLOCK)),
        ("O_DIRECT", "0", lambda: o(f, os.O_DIRECT)),
        ("O_SYNC", "0", lambda: o(f, os.O_SYNC)),
        ("unlink", "EROFS", lambda: os.unlink(f)),
        ("rename", "EROFS", lambda: os.rename(f, new)),
        ("rename to itself", "EROFS", lambda: os.rename(f, f)),
        ("link", "EROFS", lambda: os.link(f, new)),
        ("link to elsewhere", "EXDEV", lambda: os.link(f, f"{WORK}/new")),
        ("rename to elsewhere", "EXDEV", lambda: os.rename(f, f"{WORK}/new")),
        ("symlink onto it", "EEXIST", lambda: os.symlink("x", f)),
        ("mkdir onto it", "EEXIST", lambda: os.mkdir(f)),
        ("mknod onto it", "EEXIST", lambda: os.mknod(f)),
        ("rmdir", "EROFS", lambda: os.rmdir(f)),
        ("chmod", "EROFS", lambda: os.chmod(f, 0o600)),
        ("chown", "EROFS", lambda: os.chown(f, 1, 1)),
        ("truncate", "EROFS", lambda: os.truncate(f, 0)),
        ("truncate to more", "EROFS", lambda: os.truncate(f, 1 << 40)),
        ("utimensat", "EROFS", lambda: c_call("utimensat", -100, f.encode(),
                                              times, 0)),
        ("setxattr", "EROFS", lambda: os.setxattr(f, "user.a", b"b")),
        ("access R_OK", "0", lambda: c_call("access", f.encode(), os.R_OK)),
        ("access W_OK", "EROFS", lambda: c_call("access", f.encode(), os.W_OK)),
        ("access X_OK", "EACCES",
         lambda: c_call("access", f.encode(), os.X_OK)),
        ("execve", "EACCES", lambda: os.execv(f, [f])),
        ("readlink", "EINVAL", lambda: os.readlink(f)),
        ("a name below it", "ENOTDIR", lambda: os.stat(f"{f}/x")),
        ("a slash behind it", "ENOTDIR", lambda: os.stat(f"{f}/")),
        ("a dot below it", "ENOTDIR", lambda: os.stat(f"{f}/.")),
        ("create below it", "ENOTDIR", lambda: o(f"{f}/x", os.O_CREAT)),
        ("chdir", "ENOTDIR", lambda: os.chdir(f)),
        ("list", "ENOTDIR", lambda: os.listdir(f)),
        ("write", "EBADF", lambda: os.write(fd, b"x")),
        ("pwrite", "EBADF", lambda: os.pwrite(fd, b"x", 0)),
        ("ftruncate", "EINVAL", lambda: os.ftruncate(fd, 0)),
        ("fallocate", "EBADF", lambda: c_call(
            "fallocate64", fd, 0, ctypes.c_long(0), ctypes.c_long(9))),
        ("punch a hole", "EBADF", lambda: c_call(
            "fallocate64", fd, 3, ctypes.c_long(0), ctypes.c_long(9))),
        ("fchmod", "EROFS", lambda: os.fchmod(fd, 0o600)),
        ("fchown", "EROFS", lambda: os.fchown(fd, 1, 1)),
        ("futimens", "EROFS", lambda: os.utime(fd)),
        ("fchdir", "ENOTDIR", lambda: os.fchdir(fd)),
        ("getdents", "ENOTDIR", lambda: os.listdir(fd)),
        ("terminal ioctl", "ENOTTY",
         lambda: fcntl.ioctl(fd, 0x5401, b"\0" * 64)),
        ("flags ioctl", "ENOTTY", lambda: fcntl.ioctl(fd, 0x80086601, b"\0" * 8)),
        ("unknown ioctl", "ENOTTY",
         lambda: fcntl.ioctl(fd, 0x80087a7a, b"\0" * 8)),
        ("fsync", "0", lambda: os.fsync(fd)),
        ("fdatasync", "0", lambda: os.fdatasync(fd)),
        ("syncfs", "0", lambda: c_call("syncfs", fd)),
        ("fadvise", "0", lambda: os.posix_fadvise(
            fd, 0, 0, os.POSIX_FADV_WILLNEED)),
        ("readahead", "0", lambda: c_call("readahead", fd, ctypes.c_long(0),
                                          ctypes.c_size_t(4096))),
        ("flock", "0", lambda: fcntl.flock(fd, fcntl.LOCK_SH)),
        ("shared lock", "0", lambda: fcntl.lockf(fd, fcntl.LOCK_SH)),
        ("exclusive lock", "EBADF", lambda: fcntl.lockf(fd, fcntl.LOCK_EX)),
        ("read at -1", "EINVAL", lambda: os.pread(fd, 1, -1)),
        ("read at the end", "0", lambda: check(
            os.pread(fd, 9, size) == b"", "bytes behind the end")),
        ("read far away", "0", lambda: check(
            os.pread(fd, 9, (1 << 62) + 1) == b"", "bytes far away")),
        ("seek before it", "EINVAL", lambda: os.lseek(fd, -1, os.SEEK_SET)),
        ("seek behind it", "0", lambda: check(
            os.lseek(fd, 1 << 43, os.SEEK_SET) == 1 << 43, "seek")),
        ("SEEK_END", "0", lambda: check(
            os.lseek(fd, 0, os.SEEK_END) == size, "SEEK_END")),
        ("SEEK_DATA", "0", lambda: check(
            os.lseek(fd, size - 1, os.SEEK_DATA) == size - 1, "SEEK_DATA")),
        ("SEEK_HOLE", "0", lambda: check(
            os.lseek(fd, 1, os.SEEK_HOLE) == size, "SEEK_HOLE")),
        ("SEEK_DATA at the end", "ENXIO",
         lambda: os.lseek(fd, size, os.SEEK_DATA)),
        ("SEEK_HOLE at the end", "ENXIO",
         lambda: os.lseek(fd, size, os.SEEK_HOLE)),
        ("shared map to write", "EACCES",
         lambda: mmap.mmap(fd, size, mmap.MAP_SHARED, rw)),
        ("map at an odd place", "EINVAL", lambda: c_mmap(fd, 9, 1)),
        ("map of nothing", "EINVAL", lambda: c_mmap(fd, 0, 0)),
    ]


def c_mmap(fd, length, offset):
    libc.mmap.restype = ctypes.c_void_p
    r = libc.mmap(None, ctypes.c_size_t(length), mmap.PROT_READ,
                  mmap.MAP_SHARED, fd, ctypes.c_long(offset))
    if r == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    check(False, "mapped")


def folder_calls(p, path):
    o, d = os.open, f"{p}/{path}".rstrip("/")
    fd = os.open(d, os.O_RDONLY)
    full = "n" * 255
    return [
        ("open to write", "EISDIR", lambda: o(d, os.O_WRONLY)),
        ("O_CREAT", "EISDIR", lambda: o(d, os.O_CREAT | os.O_RDONLY)),
        ("O_TMPFILE", "EROFS", lambda: o(d, os.O_TMPFILE | os.O_RDWR)),
        ("read", "EISDIR", lambda: os.read(fd, 9)),
        ("pread", "EISDIR", lambda: os.pread(fd, 9, 0)),
        ("map", "ENODEV", lambda: c_mmap(fd, 4096, 0)),
        ("access W_OK", "EROFS", lambda: c_call("access", d.encode(), os.W_OK)),
        ("access X_OK", "0", lambda: c_call("access", d.encode(), os.X_OK)),
        ("chmod", "EROFS", lambda: os.chmod(d, 0o700)),
        ("chown", "EROFS", lambda: os.chown(d, 1, 1)),
        ("utime", "EROFS", lambda: os.utime(d)),
        ("setxattr", "EROFS", lambda: os.setxattr(d, "user.a", b"b")),
        ("truncate", "EISDIR", lambda: os.truncate(d, 0)),
        ("readlink", "EINVAL", lambda: os.readlink(d)),
        ("create", "EROFS", lambda: o(f"{d}/new", os.O_CREAT | os.O_WRONLY)),
        ("create to read", "EROFS", lambda: o(f"{d}/new", os.O_CREAT)),
        ("mkdir", "EROFS", lambda: os.mkdir(f"{d}/new")),
        ("mknod", "EROFS", lambda: os.mknod(f"{d}/new")),
        ("mkfifo", "EROFS", lambda: os.mkfifo(f"{d}/new")),
        ("symlink", "EROFS", lambda: os.symlink("x", f"{d}/new")),
        ("link from elsewhere", "EROFS",
         lambda: os.link(f"{DENSE}/meta.zr", f"{d}/new")),
        ("rename from elsewhere", "EXDEV",
         lambda: os.rename(f"{DENSE}/meta.zr", f"{d}/new")),
        ("unlink of no name", "EROFS", lambda: os.unlink(f"{d}/new")),
        ("rmdir of no name", "EROFS", lambda: os.rmdir(f"{d}/new")),
        ("rename of no name", "EROFS",
         lambda: os.rename(f"{d}/new", f"{d}/newer")),
        ("chmod of no name", "ENOENT", lambda: os.chmod(f"{d}/new", 0)),
        ("stat of no name", "ENOENT", lambda: os.stat(f"{d}/new")),
        ("open of no name", "ENOENT", lambda: o(f"{d}/new", os.O_RDONLY)),
        ("below no name", "ENOENT", lambda: os.stat(f"{d}/new/x")),
        ("name of 255 bytes", "ENOENT", lambda: os.stat(f"{d}/{full}")),
        ("name of 256 bytes", "ENAMETOOLONG", lambda: os.stat(f"{d}/{full}n")),
        ("name of 4095 bytes", "ENAMETOOLONG",
         lambda: os.stat("n" * 4095, dir_fd=fd)),
        ("path of 4095 bytes", "0", lambda: os.stat("./" * 2047 + ".",
                                                    dir_fd=fd)),
        ("path of 4096 bytes", "ENAMETOOLONG",
         lambda: os.stat("./" * 2048, dir_fd=fd)),
        ("name not UTF-8", "ENOENT", lambda: os.stat(d.encode() + b"/\xff\n")),
        ("chdir", "0", lambda: os.chdir(d)),
        ("fchdir", "0", lambda: os.fchdir(fd)),
        ("fsync", "0", lambda: os.fsync(fd)),
        ("flock", "0", lambda: fcntl.flock(fd, fcntl.LOCK_EX)),
        ("unknown ioctl", "ENOTTY",
         lambda: fcntl.ioctl(fd, 0x80087a7a, b"\0" * 8)),
        ("getdents of a place for no entry", "EINVAL",
         lambda: c_call("syscall", GETDENTS, fd,
                        ctypes.create_string_buffer(24), 20)),
        ("seek before it", "EINVAL", lambda: os.lseek(fd, -1, os.SEEK_SET)),
        ("rmdir of the dot", "EINVAL", lambda: os.rmdir(f"{d}/.")),
        ("unlink of the dot", "EISDIR", lambda: os.unlink(f"{d}/.")),
        ("mkdir of the dot", "EEXIST", lambda: os.mkdir(f"{d}/.")),
    ], fd


def run_tables(p, names, label, without=()):
    wrong = []
    for path in names:
        fd = os.open(f"{p}/{path}", os.O_RDONLY)
        for what, want, call in file_calls(p, path, fd):
            got = want if what in without else outcome(call)
            if got != want:
                wrong.append(f"{label} {path}: {what}: {got}, not {want}")
        os.close(fd)
    for path in FOLDERS:
        table, fd = folder_calls(p, path)
        for what, want, call in table:
            got = outcome(call)
            if got != want:
                wrong.append(f"{label} {path}/: {what}: {got}, not {want}")
        os.close(fd)
    os.chdir("/")
    check(not wrong, "\n".join(wrong))


@part("errors of every call")
def errors():
    for c, names in KINDS:
        for options in ((), ("-s", "-o", "push=off")):
            with Mount(c, *options) as p:
                before = {n: read(f"{p}/{n}") for n in names
                          if n != "stats.json"}
                run_tables(p, names, os.path.basename(c))
                for n, data in before.items():
                    check(read(f"{p}/{n}") == data, f"{n} changed")
                check(not os.path.lexists(f"{WORK}/new"), "new")


@part("errors are those of a disk that is mounted ro")
def as_others():
    needs_root()
    point = f"{WORK}/ro"
    with Mount(DENSE) as p:
        for name in files("npy"):
            os.makedirs(os.path.dirname(f"{point}/{name}"), exist_ok=True)
            with open(f"{point}/{name}", "wb") as f:
                f.write(read(f"{p}/{name}"))
            os.chmod(f.name, 0o444)
    if quiet("mount", "--bind", point, point).returncode:
        raise Skip("binding a folder is not allowed here")
    atexit.register(quiet, "umount", "-l", point)
    check(not quiet("mount", "-o", "remount,bind,ro", point).returncode, "ro")
    # A disk has flags, and may not know O_DIRECT.
    run_tables(point, files("npy"), "disk", ("flags ioctl", "O_DIRECT"))
    quiet("umount", point)


# ---- Attributes -----------------------------------------------------------

def facts(s):
    return (s.st_ino, s.st_mode, s.st_nlink, s.st_uid, s.st_gid, s.st_size,
            s.st_blocks, s.st_blksize, s.st_mtime_ns, s.st_ctime_ns,
            s.st_atime_ns)


def census(p, names):
    """All that is listed, and `names`: path -> attributes."""
    paths = set(FOLDERS) | set(names)
    for folder in FOLDERS:
        paths |= {f"{folder}/{n}".lstrip("/")
                  for n in os.listdir(f"{p}/{folder}")}
    return {n: facts(os.stat(f"{p}/{n}")) for n in sorted(paths)}


@part("attributes: right, and the same after a remount")
def attributes():
    for c, names in KINDS:
        first = None
        mtime = os.stat(f"{c}/meta.zr").st_mtime_ns
        for options in ((), ("-s", "-o", "push=off,cache_mb=0"),
                        ("-o", "threads=5")):
            time.sleep(0.02)
            with Mount(c, *options, "-o", "batch=256:7") as p:
                # The number of a selection is as long as its mount.
                selections = [n for n in names if n.startswith("gather/")]
                seen = census(p, names)
                for n in selections:
                    seen[n] = seen[n][1:]
                if first is None:
                    first = seen
                changed = [n for n in seen if seen[n] != first.get(n)]
                check(seen.keys() == first.keys() and not changed,
                      f"{options}: changed: {changed[:5]}")
                dev = os.stat(p).st_dev
                for n in names:
                    s = os.stat(f"{p}/{n}")
                    data = read(f"{p}/{n}")
                    fd = os.open(f"{p}/{n}", os.O_RDONLY)
                    check(facts(os.fstat(fd)) == facts(s) ==
                          facts(os.lstat(f"{p}/{n}")), f"{n}: fstat")
                    os.close(fd)
                    check(s.st_size == len(data), f"{n}: size")
                    check(s.st_mode == st.S_IFREG | 0o444, f"{n}: mode")
                    check(s.st_nlink == 1 and s.st_dev == dev, f"{n}: links")
                    check(s.st_blocks == -(-s.st_size // 512), f"{n}: blocks")
                    check(s.st_mtime_ns == s.st_ctime_ns == mtime, f"{n}: time")
                    check(s.st_blksize % 4096 == 0 and
                          4096 <= s.st_blksize <= 131072, f"{n}: blksize")
                for n in FOLDERS:
                    s = os.stat(f"{p}/{n}")
                    inside = [e for e in os.scandir(f"{p}/{n}") if e.is_dir()]
                    check(s.st_mode == st.S_IFDIR | 0o555 and
                          s.st_nlink == 2 + len(inside) and s.st_dev == dev,
                          f"{n}/: {s}")
                    up = os.stat(f"{p}/{n}/..") if n else None
                    check(not n or up.st_ino == os.stat(
                        os.path.dirname(f"{p}/{n}")).st_ino, f"{n}/..")
                if drop_caches():
                    check(census(p, names).keys() == seen.keys(), "names")
                    again = {n: f for n, f in census(p, names).items()
                             if n not in selections}
                    check(all(seen[n] == f for n, f in again.items()),
                          "attributes changed")
                inos = [f[0] for n, f in seen.items() if n not in selections]
                # Two names are other paddings of names that are listed.
                check(len(inos) - len(set(inos)) == 2,
                      f"{len(inos) - len(set(inos))} numbers are shared")
                v, disk = os.statvfs(p), sum(
                    os.stat(f"{c}/{f}").st_size for f in os.listdir(c))
                check(v.f_bfree == v.f_bavail == v.f_ffree == 0 and
                      v.f_files == N and v.f_namemax == 255 and
                      v.f_flag & os.ST_RDONLY and
                      abs(v.f_blocks * v.f_frsize - disk) < 1 << 17, f"{v}")
                for n in names[:4] + ["records"]:
                    check(os.statvfs(f"{p}/{n}") == v, f"statvfs of {n}")


# ---- Listings -------------------------------------------------------------

def anywhere(p, folder, rounds, rand):
    """Two readers of one folder, each jumping as it likes."""
    fds = [os.open(f"{p}/{folder}", os.O_RDONLY) for _ in range(2)]
    entries = listing(fds[0], 1 << 16)
    names = [e[0] for e in entries]
    check(names[:2] == [".", ".."] and len(set(names)) == len(names), folder)
    check(len({e[2] for e in entries}) == len(entries), f"{folder}: offsets")
    if len(entries) < 2000:
        check(listing(fds[1], lambda: rand.choice((32, 48, 64, 100, 999, 4096)))
              == entries, f"{folder}: by pieces of any size")
    at = [0, 0]
    os.lseek(fds[0], 0, os.SEEK_SET)
    os.lseek(fds[1], 0, os.SEEK_SET)
    for _ in range(rounds):
        i = rand.randrange(2)
        if rand.random() < 0.4:
            at[i] = rand.randrange(len(entries) + 1)
            os.lseek(fds[i], entries[at[i] - 1][2] if at[i] else 0,
                     os.SEEK_SET)
        got = getdents(fds[i], rand.choice((48, 64, 200, 1000, 5000)))
        want = entries[at[i]:at[i] + len(got)]
        check(got == want and (got or at[i] == len(entries)),
              f"{folder} from {at[i]}: {got[:2]}, not {want[:2]}")
        at[i] += len(got)
    # No entry has such a place; whatever is told, the driver goes on.
    known = set(entries)
    for place in (1 << 20, 1 << 31, (1 << 32) + 5, (1 << 62), (1 << 63) - 1):
        os.lseek(fds[0], place, os.SEEK_SET)
        got = getdents(fds[0], 4096)
        check(set(got) <= known, f"{folder} at {place}: {got[:1]}")
        check(place < len(entries) * 8 or not got, f"{folder} at {place}")
    if len(entries) < 2000:
        check(listing(fds[0], 1 << 15) == entries, f"{folder}: again")
    for fd in fds:
        os.close(fd)
    return entries


@part("listings resume anywhere")
def listings():
    rand = random.Random(5)
    rounds = 3000 if LONG else 150
    for c, _ in (KINDS[0], KINDS[2]):
        for options in ((), ("-s",)):
            with Mount(c, *options) as p:
                for folder in FOLDERS:
                    anywhere(p, folder, rounds, rand)
                drop_caches()
                for folder in FOLDERS:
                    anywhere(p, folder, rounds // 3, rand)
            with Mount(c, *options, "-o", "layout=flat") as p:
                anywhere(p, "", rounds, rand)


@part("listings of 250,000 names resume anywhere")
def long_listing():
    # More than are told with their attributes at once.
    c = make_dense("wide", np.zeros((250000, 1), "|u1"))
    rand = random.Random(6)
    with Mount(c) as p:
        for folder in ("records", "batches/1", "text")[:3 if LONG else 1]:
            entries = anywhere(p, folder, 2000 if LONG else 200, rand)
            check(len(entries) == 250002 and
                  entries[-1][0].startswith("249999."), folder)


# ---- Contents -------------------------------------------------------------

def whole_page(path, length):
    libc.mmap.restype = ctypes.c_void_p
    with open(path, "rb") as f:
        a = libc.mmap(None, ctypes.c_size_t(length), mmap.PROT_READ,
                      mmap.MAP_SHARED, f.fileno(), ctypes.c_long(0))
    check(a != ctypes.c_void_p(-1).value, "mmap")
    # What may be read may not be made writable.
    r = libc.mprotect(ctypes.c_void_p(a), ctypes.c_size_t(length),
                      mmap.PROT_READ | mmap.PROT_WRITE)
    check(r < 0 and ctypes.get_errno() == errno.EACCES, "mprotect")
    data = ctypes.string_at(a, length)
    libc.munmap(ctypes.c_void_p(a), ctypes.c_size_t(length))
    return data


@part("maps")
def maps():
    for c, names in KINDS:
        with Mount(c) as p:
            for n in names:
                if n == "stats.json":
                    continue
                want = read(f"{p}/{n}")
                drop_caches()
                with open(f"{p}/{n}", "rb") as f:
                    shared = mmap.mmap(f.fileno(), 0, mmap.MAP_SHARED,
                                       mmap.PROT_READ)
                    private = mmap.mmap(f.fileno(), 0, mmap.MAP_PRIVATE,
                                        mmap.PROT_READ | mmap.PROT_WRITE)
                # The maps outlive their descriptor.
                check(shared[:] == want, f"{n}: shared map")
                at = len(want) * 2 // 3
                private[at:at + 9] = b"CHANGED! "[:len(want) - at]
                private[0:1] = b"X"
                check(private[1:at] == want[1:at], f"{n}: private map")
                check(private[at:at + 7] == b"CHANGED"[:len(want) - at],
                      f"{n}: change of a private map")
                check(shared[:] == want == read(f"{p}/{n}"),
                      f"{n}: a private change got out")
                # Behind the end, up to a page: zeros.
                tail = -len(want) % 4096
                address = whole_page(f"{p}/{n}", len(want) + tail)
                check(address[len(want):] == b"\0" * tail, f"{n}: tail")
                private.close()
                shared.close()


def moved(name, fd, length):
    """Bytes of `fd` by the call `name`."""
    with tempfile.TemporaryFile(dir=WORK) as out:
        at = 0
        while at < length:
            if name == "sendfile":
                n = os.sendfile(out.fileno(), fd, at, length - at)
            elif name == "copy_file_range":
                n = os.copy_file_range(fd, out.fileno(), length - at, at)
            else:
                r, w = os.pipe()
                n = c_call("splice", fd, ctypes.byref(ctypes.c_long(at)), w,
                           None, ctypes.c_size_t(min(length - at, 60000)), 0)
                out.write(os.read(r, n) if n else b"")
                os.close(r)
                os.close(w)
            if not n:
                break
            at += n
        out.seek(0)
        return out.read()


@part("other ways to read")
def ways():
    for c, names in KINDS:
        with Mount(c) as p:
            for n in names:
                if n == "stats.json":
                    continue
                want = read(f"{p}/{n}")
                fd = os.open(f"{p}/{n}", os.O_RDONLY)
                a, b, rest = bytearray(7), bytearray(1), bytearray(len(want))
                got = os.preadv(fd, [a, b, rest], 3)
                check(got == len(want) - 3 and
                      bytes(a + b + rest)[:got] == want[3:], f"{n}: preadv")
                for name in ("sendfile", "copy_file_range", "splice"):
                    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
                    try:
                        check(moved(name, fd, len(want)) == want,
                              f"{n}: {name}")
                    except OSError as e:
                        # Between two kinds of file system: cp goes on
                        # by reading.
                        check((name, e.errno) ==
                              ("copy_file_range", errno.EXDEV), f"{name}: {e}")
                os.close(fd)
                with open(f"{p}/{n}", encoding="latin-1", newline="") as f:
                    check(f.read().encode("latin-1") == want, f"{n}: stdio")
    # Into the mount nothing can be copied.
    with Mount(DENSE) as p:
        fd = os.open(f"{p}/info.json", os.O_RDONLY)
        check(outcome(lambda: os.copy_file_range(fd, fd, 1)) in
              ("EBADF", "EINVAL"), "copy_file_range into the mount")
        os.close(fd)


@part("READs of every size")
def sizes():
    """O_DIRECT hands the driver what is asked for; the sizes up to 1 MiB, at
    odd places. In the long form all up to 8 KiB are among them."""
    rand = random.Random(12)
    count = 20000 if LONG else 400
    rows = rng.integers(0, 255, (700, 777), dtype="|u1")
    rows[:, 300:] = 7
    wide = rng.integers(0, 3, (3, 1 << 20), dtype="|u1")
    rag = [wide[i % 3, :1 + i * 7919 % 60000] for i in range(60)]
    cases = []
    for codec in ("raw", "zstd"):
        cases += [(make_dense(f"rows_{codec}", rows, codec), {
                      "all.npy": npy(rows),
                      "batches/500/0.npy": npy(rows[:500]),
                      "gather/::-1.npy": npy(rows[::-1])}),
                  (make_dense(f"wide_{codec}", wide, codec), {
                      "records/1.npy": npy(wide[1]), "all.npy": npy(wide)}),
                  (make_ragged(f"rag_{codec}", rag, codec), {
                      "batches/60/0.npz": None, "records/7.npy": npy(rag[7]),
                      "gather/5:9.npz": None})]
    for c, want in cases:
        with Mount(c) as p:
            for n, data in want.items():
                path = f"{p}/{n}"
                data = data or read(path)
                check(read(path) == data, n)
                fds = [os.open(path, os.O_RDONLY | flag)
                       for flag in (os.O_DIRECT, 0)]
                some = [1, 2, 3, 127, 128, 129, 4095, 4096, 4097, 131071,
                        131072, 131073, (1 << 20) - 1, 1 << 20]
                some += [rand.randrange(1, 1 << 20) for _ in range(count // 4)]
                some += [int(2 ** (rand.random() * 20)) for _ in range(count)]
                if LONG:
                    some += range(1, 8193)
                for size in some:
                    at = rand.randrange(len(data) + 1) | 1
                    fd = fds[rand.random() < 0.2]
                    check(os.pread(fd, size, at) == data[at:at + size],
                          f"{c} {n}: {size} bytes at {at}")
                for fd in fds:
                    os.close(fd)


# ---- Over 4 GiB -----------------------------------------------------------

ROW = 1000003
ROWS = 5000  # 4.66 GiB


def make_huge(name):
    """A Dense container of zeros but for the first and last 8 bytes of a
    record: its number. On the disk it is a file with holes."""
    path = os.path.join(WORK, name)
    os.mkdir(path)
    schema = packed({"dtype": "|u1", "item_shape": (ROW,)})
    marked = {0, 1, 7, 2147, 2148, 4294, 4295, 4296, ROWS - 2, ROWS - 1}
    with open(f"{path}/data.zr", "wb") as f:
        f.truncate(ROWS * ROW)
        for i in marked:
            f.seek(i * ROW)
            f.write(struct.pack("<Q", i + 1))
            f.seek((i + 1) * ROW - 8)
            f.write(struct.pack("<Q", i + 1))
    if os.stat(f.name).st_blocks > 1 << 20:
        raise Skip("files here have no holes")
    head = struct.pack("<QQI11xB", ROWS, ROWS * ROW, len(schema), 0) + schema
    with open(f"{path}/meta.zr", "wb") as f:
        f.write(head.ljust(4096, b"\0") + b"".join(
            struct.pack("<QII", i * ROW, ROW, ROW) for i in range(ROWS)))
    return path, marked


@part("files over 4 GiB")
def huge():
    c, marked = make_huge("huge")
    with Mount(c) as p:
        for n in ("all.npy", f"batches/{ROWS}/0.npy", "gather/:.npy"):
            path = f"{p}/{n}"
            s = os.stat(path)
            check(s.st_size == 128 + ROWS * ROW and
                  s.st_blocks == -(-s.st_size // 512), f"{n}: {s}")
            with open(path, "rb") as f:
                fd = f.fileno()
                check(os.lseek(fd, 0, os.SEEK_END) == s.st_size, n)
                check(os.pread(fd, 128, 0)[:10] == b"\x93NUMPY\1\0v\0", n)
                for i in sorted(marked, reverse=True):
                    # Around both ends of a record.
                    at = 128 + i * ROW
                    check(os.pread(fd, 9, at - 1)[1:] ==
                          struct.pack("<Q", i + 1), f"{n}: start of {i}")
                    check(os.pread(fd, 9, at + ROW - 8)[:8] ==
                          struct.pack("<Q", i + 1), f"{n}: end of {i}")
                for at in (1 << 31, 1 << 32):
                    i, inside = divmod(at - 128, ROW)
                    want = bytearray(3 * ROW)
                    for k in range(3):
                        if i - 1 + k in marked:
                            number = struct.pack("<Q", i + k)
                            want[k * ROW:k * ROW + 8] = number
                            want[(k + 1) * ROW - 8:(k + 1) * ROW] = number
                    got = os.pread(fd, 3 * ROW, 128 + (i - 1) * ROW)
                    check(got == want, f"{n}: records around {at}")
                    check(os.pread(fd, 200, at - 99) == want[
                        inside + ROW - 99:inside + ROW + 101], f"{n}: at {at}")
                check(os.pread(fd, 99, s.st_size - 5)[-5:] ==
                      struct.pack("<Q", ROWS)[3:], f"{n}: end")
                with mmap.mmap(fd, 8192, mmap.MAP_SHARED, mmap.PROT_READ,
                               offset=(128 + 4296 * ROW) & ~4095) as m:
                    at = (128 + 4296 * ROW) & 4095
                    check(m[at:at + 8] == struct.pack("<Q", 4297),
                          f"{n}: map over 4 GiB")
            for mode in ("r", "c"):
                a = np.load(path, mmap_mode=mode)
                check(a.shape == (ROWS, ROW), f"{n}: {a.shape}")
                for i in marked:
                    check(a[i, :8].tobytes() == struct.pack("<Q", i + 1) ==
                          a[i, -8:].tobytes() and not a[i, 8:5000].any(),
                          f"{n}: row {i} of the map")
                del a
        tail = subprocess.run(["tail", "-c", "8", f"{p}/all.npy"],
                              capture_output=True, timeout=PATIENCE)
        check(tail.stdout == struct.pack("<Q", ROWS), f"tail: {tail}")
        if LONG:
            # One call moves at most 2 GiB less a page.
            with open(f"{p}/all.npy", "rb", buffering=0) as f:
                check(len(os.read(f.fileno(), 3 << 30)) == 0x7ffff000,
                      "read of 3 GiB")


@part("an .npz over 4 GiB")
def huge_npz():
    path = os.path.join(WORK, "huge_ragged")
    os.mkdir(path)
    schema = packed({"dtype": "|u1"})
    shape = b"\1" + struct.pack("<Q", ROW)
    body = shape + bytes(ROW - 1) + b"E"
    with open(f"{path}/data.zr", "wb") as f:
        f.truncate(ROWS * len(body))
        for i in range(ROWS):
            f.seek(i * len(body))
            f.write(shape)
            f.seek((i + 1) * len(body) - 1)
            f.write(b"E")
    if os.stat(f.name).st_blocks > 1 << 20:
        raise Skip("files here have no holes")
    head = struct.pack("<QQI11xB", ROWS, ROWS * len(body), len(schema), 0)
    with open(f"{path}/meta.zr", "wb") as f:
        f.write((head + schema).ljust(4096, b"\0") + b"".join(
            struct.pack("<QII", i * len(body), len(body), len(body))
            for i in range(ROWS)))
    with Mount(path) as p:
        name = f"{p}/gather/4000:,:4000.npz"
        check(os.stat(name).st_size > ROWS * (ROW + 128), "size")
        with open(name, "rb", buffering=0) as f:
            check(f.read(4) == b"PK\3\4", "start")
        # All must be read to know the sums in the folder of the zip.
        if not LONG:
            return
        with open(name, "rb", buffering=0) as f, zipfile.ZipFile(f) as z:
            check(len(z.namelist()) == ROWS, "members")
            for i in (0, 1, 999, 4293, 4294, 4295, ROWS - 1):
                data = z.read(f"arr_{i}.npy")
                check(len(data) == 128 + ROW and data[-1:] == b"E", f"{i}")
