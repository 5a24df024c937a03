#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Other file systems on top of the mount: overlayfs, bind mounts, an NFS
server; and what they need below, handles that stay good."""
import errno
import random
import socket
import threading

from parts import *

N = 400
rng = np.random.default_rng(2)
rows = rng.integers(0, 1000, (N, 600), dtype="<i4")
C = make_dense("c", rows, "zstd")
ZIPPED = make_ragged("zipped", [rows[i, :1 + i] for i in range(N)], "zstd")


def mount(*command):
    """Run mount(8), and unmount that at the end."""
    p = quiet("mount", *command)
    if p.returncode == 0:
        atexit.register(quiet, "umount", "-l", command[-1])
    return p


def copied(a, b):
    """What diff -r says of two trees."""
    return quiet("diff", "-r", "-x", "stats.json", a, b)


class Overlay:
    """An overlayfs over `lower`, its changes in a folder of ours or in a
    tmpfs."""

    def __init__(self, lower, writable=True):
        needs_root()
        with open("/proc/filesystems", encoding="ascii") as f:
            if "\toverlay\n" not in f.read():
                raise Skip("this kernel has no overlayfs")
        self.top = tempfile.mkdtemp(prefix="o-", dir=WORK)
        self.path = f"{self.top}/merged"
        layers = f"lowerdir={lower}"
        if writable:
            # What holds the changes may not be an overlay itself.
            check(not mount("-t", "tmpfs", "none", self.top).returncode,
                  "tmpfs")
            for d in ("upper", "work"):
                os.mkdir(f"{self.top}/{d}")
            layers += f",upperdir={self.top}/upper,workdir={self.top}/work"
        os.mkdir(self.path)
        p = mount("-t", "overlay", "overlay", "-o", layers, self.path)
        check(p.returncode == 0, f"overlay: {p.stderr}")
        self.writable = writable

    def __enter__(self):
        return self.path

    def __exit__(self, *rest):
        for d in (self.path, self.top)[:1 + self.writable]:
            p = quiet("umount", d)
            check(p.returncode == 0 or rest[0], f"unmount: {p.stderr}")


@part("overlayfs reads through")
def overlay_reads():
    for c in (C, ZIPPED):
        with Mount(c) as p, Overlay(p) as o:
            d = copied(p, o)
            check(d.returncode == 0, f"{d.stdout}{d.stderr}")
            drop_caches()
            for n in ("records/7.npy", "batches/3/5.npy", "gather/5,2.npy"):
                n = n if c == C or n[0] == "r" else n[:-1] + "z"
                check(read(f"{o}/{n}") == read(f"{p}/{n}"), n)
            check(np.load(f"{o}/records/9.npy", mmap_mode="r").sum() ==
                  rows[9][:None if c == C else 10].sum(), "map")
            for n in ("records/000400.npy", "x", "gather/x.npy"):
                check(not os.path.lexists(f"{o}/{n}"), n)
            check(sorted(os.listdir(f"{o}/records")) ==
                  sorted(os.listdir(f"{p}/records")), "names")


@part("overlayfs over two containers")
def overlay_two():
    with Mount(C) as p, Mount(ZIPPED) as q, \
            Overlay(f"{q}:{p}", writable=False) as o:
        check(read(f"{o}/records/000003.npy") == read(f"{q}/records/3.npy"),
              "the upper wins")
        check(read(f"{o}/all.npy") == npy(rows), "the lower shows")
        try:
            os.open(f"{o}/records/000003.npy", os.O_RDWR)
            fail("opened to write")
        except OSError as e:
            check(e.errno == errno.EROFS, f"{e}")


@part("overlayfs takes changes")
def overlay_writes():
    with Mount(C) as p, Overlay(p) as o:
        f = f"{o}/records/000005.npy"
        a = np.load(f, mmap_mode="r+")
        a[3] = 12345
        a.flush()
        del a
        want = rows[5].copy()
        want[3] = 12345
        check(read(f) == npy(want), "changed by a map")
        with open(f"{o}/records/000006.npy", "ab") as out:
            out.write(b"more")
        check(read(f"{o}/records/000006.npy") == npy(rows[6]) + b"more",
              "appended")
        np.save(f"{o}/records/new.npy", rows[:2])
        os.unlink(f"{o}/records/000007.npy")
        os.rename(f"{o}/records/000008.npy", f"{o}/moved.npy")
        os.chmod(f"{o}/all.npy", 0o600)
        os.mkdir(f"{o}/batches/mine")
        os.truncate(f"{o}/records/000010.npy", 100)
        check(read(f"{o}/moved.npy") == npy(rows[8]), "renamed")
        check(read(f"{o}/all.npy") == npy(rows), "copied up whole")
        names = set(os.listdir(f"{o}/records"))
        check("new.npy" in names and len(names) == N - 1 and
              not names & {"000007.npy", "000008.npy"}, "names")
        # Below all is as it was.
        drop_caches()
        for i in range(12):
            check(read(f"{p}/records/{i}.npy") == npy(rows[i]), f"{i}")
        check(len(os.listdir(f"{p}/records")) == N, "names below")
        check(os.stat(f"{p}/all.npy").st_mode & 0o777 == 0o444, "mode below")


def bind(what):
    needs_root()
    point = tempfile.mkdtemp(dir=WORK)
    if mount("--bind", what, point).returncode:
        raise Skip("binding a folder is not allowed here")
    return point


@part("a bind mount outlives the mount")
def bind_outlives():
    m = Mount(C)
    p = m.__enter__()
    pid = driver_of(p)
    b = bind(f"{p}/records")
    check(quiet("fusermount3", "-u", p).returncode == 0, "unmount")
    check(not os.listdir(p), "still there")
    drop_caches()
    check(read(f"{b}/000002.npy") == npy(rows[2]), "bound")
    check(os.stat(f"{b}/..").st_dev != os.stat(b).st_dev, "..")
    check(quiet("umount", b).returncode == 0, "unmount of the bound")
    check(wait_until(lambda: not drivers(p)), f"driver {pid} stays")


@part("a signal ends a mount that is bound elsewhere too")
def bind_signal():
    m = Mount(C)
    p = m.__enter__()
    pid = driver_of(p)
    b = bind(f"{p}/records")
    c = bind(p)
    os.kill(pid, signal.SIGTERM)
    check(wait_until(lambda: not is_mounted(p), 5), "the mount stays")
    check(wait_until(lambda: not drivers(p), 5), "the driver stays")
    check(not is_mounted(b) and not is_mounted(c), "a bound folder stays")


def handle_of(path):
    buf = ctypes.create_string_buffer(struct.pack("II", 128, 0), 136)
    try:
        c_call("name_to_handle_at", -100, path.encode(), buf,
               ctypes.byref(ctypes.c_int()), 0)
    except OSError as e:
        if e.errno == errno.EOPNOTSUPP:
            raise Skip("this kernel gives no handles on FUSE") from e
        raise
    return buf.raw


def open_handle(at, handle):
    try:
        return c_call("open_by_handle_at", at, handle, os.O_RDONLY)
    except OSError as e:
        if e.errno in (errno.EPERM, errno.EACCES):
            raise Skip("opening handles is not allowed here") from e
        raise


@part("handles, as an NFS server keeps them")
def handles():
    """Of all records at once, from many threads, while the kernel forgets."""
    needs_root()
    with Mount(C) as p:
        names = [f"records/{i:06}.npy" for i in range(N)] + \
            [f"text/{i:06}.txt" for i in range(0, N, 9)] + \
            [f"batches/5/{i:06}.npy" for i in range(0, N // 5, 3)]
        kept = {n: handle_of(f"{p}/{n}") for n in names}
        want = {n: read(f"{p}/{n}") for n in names}
    for options in ((), ("-s",)):
        with Mount(C, *options) as p:
            at = os.open(p, os.O_RDONLY)
            wrong = []

            def server(seed):
                order = random.Random(seed)
                for _ in range(400 if LONG else 60):
                    n = order.choice(names)
                    try:
                        fd = open_handle(at, kept[n])
                        if os.pread(fd, 1 << 20, 0) != want[n]:
                            wrong.append(n)
                        os.close(fd)
                    except BaseException as e:
                        wrong.append((n, e))
            threads = [threading.Thread(target=server, args=(i,))
                       for i in range(8)]
            for t in threads:
                t.start()
            while any(t.is_alive() for t in threads):
                drop_caches()
                time.sleep(0.01)
            os.close(at)
            for w in wrong:
                if isinstance(w[1], Skip):
                    raise w[1]
            check(not wrong, f"{wrong[:3]}")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@part("an export by an NFS server")
def nfs():
    """By nfs-ganesha, a server without a kernel module that uses handles as
    the kernel's does, to libnfs, a client without one."""
    needs_root()
    server = shutil.which("ganesha.nfsd")
    if not server or not shutil.which("nfs-cat"):
        with open("/proc/filesystems", encoding="ascii") as f:
            kernel = "one" if "\tnfsd\n" in f.read() else "none"
        raise Skip("no nfs-ganesha with nfs-ganesha-vfs and libnfs-utils "
                   f"here (the kernel has {kernel})")
    with Mount(C) as p:
        port = free_port()
        with open(f"{WORK}/ganesha.conf", "w", encoding="ascii") as f:
            f.write(f"""
NFS_CORE_PARAM {{ Protocols = 4; NFS_Port = {port}; Bind_addr = 127.0.0.1;
    Enable_NLM = false; Enable_RQUOTA = false; }}
NFSv4 {{ Graceless = true; RecoveryBackend = fs; RecoveryRoot = {WORK};
    Only_Numeric_Owners = true; UseGetpwnam = true; }}
NFS_KRB5 {{ Active_krb5 = false; }}
EXPORT {{ Export_Id = 77; Path = {p}; Pseudo = /z; Access_Type = RO;
    Squash = No_Root_Squash; SecType = sys; Protocols = 4;
    Filesystem_Id = 7.7; FSAL {{ Name = VFS; }} }}
""")
        log = f"{WORK}/ganesha.log"
        with subprocess.Popen(
                [server, "-F", "-f", f.name, "-L", log, "-p",
                 f"{WORK}/ganesha.pid"], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as g:
            def client(tool, name):
                return subprocess.run(
                    [tool, f"nfs://127.0.0.1/z/{name}?nfsport={port}"
                     "&version=4"], stdin=subprocess.DEVNULL,
                    capture_output=True, timeout=PATIENCE)
            try:
                check(wait_until(lambda: client("nfs-ls", "").returncode == 0
                                 or g.poll() is not None) and
                      g.poll() is None, f"no server: {read(log)[-900:]}")
                names = {row.split()[-1].decode() for row in client(
                    "nfs-ls", "records").stdout.splitlines()}
                check(names == set(os.listdir(f"{p}/records")),
                      f"{len(names)} names")
                # The handle of a selection ends with the kernel's memory.
                for last in ("gather/5,2.npy", "all.npy"):
                    for n in ("records/000007.npy", "records/399.npy",
                              "batches/256/000001.npy", "batches/7/3.npy",
                              "info.json", "text/000009.txt", last):
                        out = client("nfs-cat", n)
                        check(out.stdout == read(f"{p}/{n}"),
                              f"{n}: {out.stderr[-300:]}")
                    drop_caches()
                out = client("nfs-cat", "records/400.npy")
                check(out.returncode and not out.stdout, "no such record")
            finally:
                g.terminate()
                try:
                    g.wait(10)
                except subprocess.TimeoutExpired:
                    g.kill()
