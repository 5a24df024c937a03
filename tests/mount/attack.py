#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The container is damaged, cut or removed under the mount, the driver is
killed, the mount is taken down amid reads, signals fall on its readers: what
is gone is an error, what is there is right, and nobody waits for ever."""
import errno
import mmap
import random
import threading

from parts import *

ZRECORD = os.environ["ZRECORD"]
N, ITEMS = 240, 5000
rng = np.random.default_rng(4)
rows = rng.integers(0, 5000, (N, ITEMS), dtype="<i4")
ragged = [rows[i, :1 + i * 97 % ITEMS] for i in range(N)]
GONE = (errno.ENOTCONN, errno.ECONNABORTED)


def create(name, *options):
    """A container with hashes of its records."""
    source, path = f"{WORK}/{name}.src", f"{WORK}/{name}"
    os.mkdir(source)
    for i, a in enumerate(ragged if "--ragged" in options else rows):
        np.save(f"{source}/{i:03}.npy", a)
    p = quiet(ZRECORD, "create", *options, path, source)
    check(p.returncode == 0, f"create {name}: {p.stderr}")
    shutil.rmtree(source)
    return path


CONTAINERS = {
    create("raw"): rows,
    create("zstd", "--codec", "zstd"): rows,
    create("dict", "--codec", "zstd_dict"): rows,
    create("ragged", "--codec", "zstd", "--ragged"): ragged,
}
RAW, ZSTD, DICT, RAGGED = CONTAINERS


def pristine(c):
    """A copy of the container, to be ruined."""
    path = tempfile.mkdtemp(dir=WORK) + "/c"
    shutil.copytree(c, path)
    return path


def direct(path):
    """Its bytes by way of the driver, or the name of the error."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    except OSError as e:
        return errno.errorcode[e.errno]
    try:
        out = b""
        while piece := os.pread(fd, 1 << 20, len(out)):
            out += piece
        return out
    except OSError as e:
        return errno.errorcode[e.errno]
    finally:
        os.close(fd)


def names_of(arrays):
    """name -> bytes of some files of each kind."""
    want = {f"records/{i:06}.npy": npy(a) for i, a in enumerate(arrays)}
    if arrays is rows:
        want |= {f"batches/9/{i}.npy": npy(rows[9 * i:9 * i + 9])
                 for i in range(N // 9)}
        want |= {f"gather/{i},0:3.npy": npy(rows[[i, 0, 1, 2]])
                 for i in range(0, N, 20)}
        want["all.npy"] = npy(rows)
    return want


class Alive:
    """The driver of a mount goes on, with the same descriptors."""

    def __init__(self, point):
        self.point, self.pid = point, driver_of(point)
        self.before = descriptors(self.pid)

    def check(self, what):
        check(self.pid in drivers(self.point), f"{what}: the driver died")
        check(wait_until(lambda: descriptors(self.pid) <= self.before, 5),
              f"{what}: {descriptors(self.pid)} descriptors, were "
              f"{self.before}")


# ---- The container --------------------------------------------------------

@part("bytes that change under the mount")
def damaged():
    """With hashes no wrong byte is served; the right ones, once back, are."""
    rand = random.Random(1)
    for c, arrays in CONTAINERS.items():
        path, want = pristine(c), names_of(arrays)
        good = read(f"{path}/data.zr")
        with Mount(path) as p:
            alive = Alive(p)
            check(all(direct(f"{p}/{n}") == b for n, b in want.items()), c)
            for _ in range(5 if LONG else 1):
                bad = bytearray(good)
                spots = [rand.randrange(len(bad)) for _ in range(6)]
                for at in spots:
                    bad[at] ^= 1 << rand.randrange(8)
                with open(f"{path}/data.zr", "r+b") as f:
                    f.write(bad)
                errors = 0
                for n, data in want.items():
                    got = direct(f"{p}/{n}")
                    check(got in (data, "EIO"), f"{c} {n}: {got[:20]!r}")
                    errors += got == "EIO" and n.startswith("records/")
                check(0 < errors <= len(spots), f"{c}: {errors} errors")
                with open(f"{path}/data.zr", "r+b") as f:
                    f.write(good)
                for n, data in want.items():
                    check(direct(f"{p}/{n}") == data, f"{c} {n}: repaired")
            with open(f"{path}/data.zr", "r+b") as f:
                f.write(rand.randbytes(len(good)))
            for n in want:
                check(direct(f"{p}/{n}") == "EIO", f"{c} {n}: noise")
            alive.check(c)


@part("a container that is cut amid reads")
def cut():
    rand = random.Random(2)
    for c, arrays in CONTAINERS.items():
        path, want = pristine(c), names_of(arrays)
        good = read(f"{path}/data.zr")
        with Mount(path) as p:
            alive = Alive(p)

            def reader(seed):
                order, names = random.Random(seed), list(want)
                seen = {"good": 0, "EIO": 0}
                start = time.monotonic()
                while time.monotonic() < start + (8 if LONG else 0.5) or (
                        not all(seen.values()) and
                        time.monotonic() < start + PATIENCE / 2):
                    n = order.choice(names)
                    got = direct(f"{p}/{n}")
                    check(got in (want[n], "EIO"), f"{n}: {got[:20]!r}")
                    seen["EIO" if got == "EIO" else "good"] += 1
                check(seen["good"] and seen["EIO"], f"{c}: {seen}")
            children = [Child(reader, i) for i in range(4)]
            while any(child.running() for child in children):
                os.truncate(f"{path}/data.zr", rand.choice(
                    (0, 1, rand.randrange(len(good)), len(good) - 1)))
                time.sleep(rand.random() * 0.02)
                with open(f"{path}/data.zr", "r+b") as f:
                    f.write(good)
                time.sleep(rand.random() * 0.02)
            for child in children:
                child.done()
            for n, data in want.items():
                check(direct(f"{p}/{n}") == data, f"{c} {n}: restored")
            # In half: the records in front are served.
            os.truncate(f"{path}/data.zr", len(good) // 2)
            kinds = [direct(f"{p}/records/{i}.npy") != "EIO"
                     for i in range(N)]
            k = sum(kinds)
            check(kinds == [True] * k + [False] * (N - k) and
                  N // 3 < k < 2 * N // 3, f"{c}: cut in half: {k} records")
            alive.check(c)


@part("files of the container that go away")
def removed():
    for c, arrays in CONTAINERS.items():
        want = names_of(arrays)
        for ruin in ("truncate", "unlink", "replace", "rename", "chmod")[
                :5 if LONG or c == ZSTD else 1]:
            path = pristine(c)
            with Mount(path) as p:
                alive = Alive(p)
                check(direct(f"{p}/records/1.npy") == npy(arrays[1]), c)
                for f in sorted(os.listdir(path)):
                    f = f"{path}/{f}"
                    if ruin == "truncate" and not f.endswith("/data.zr"):
                        os.truncate(f, 0)
                    elif ruin == "unlink":
                        os.unlink(f)
                    elif ruin == "replace":
                        with open(f + ".new", "wb") as out:
                            out.write(b"\xff" * 9999)
                        os.rename(f + ".new", f)
                    elif ruin == "chmod":
                        os.chmod(f, 0)
                if ruin == "rename":
                    os.rename(path, path + ".moved")
                for n, data in want.items():
                    got = direct(f"{p}/{n}")
                    check(got == data or got == "EIO" and ruin == "truncate",
                          f"{c} {n}: {ruin}: {got[:20]!r}")
                check(len(os.listdir(f"{p}/records")) == N and
                      read(f"{p}/info.json"), f"{c}: {ruin}")
                alive.check(f"{c}: {ruin}")


@part("bad records do not fill the log or the memory")
def complaints():
    path = pristine(ZSTD)
    m = Mount(path, "-f")
    with m as p:
        alive = Alive(p)
        os.truncate(f"{path}/data.zr", 0)
        for i in range(20):
            direct(f"{p}/records/{i}.npy")
        before = resident(alive.pid)
        start = time.monotonic()
        count = 0
        while time.monotonic() < start + (20 if LONG else 1):
            check(direct(f"{p}/records/{count % N}.npy") == "EIO", "read")
            count += 1
        grown = resident(alive.pid) - before
        check(grown < 4096 or SANITIZED, f"{count} errors: {grown} KiB more")
        alive.check("complaints")
    lines = len(m.text().splitlines())
    check(1 <= lines <= 4 + 20 * LONG, f"{count} errors, {lines} lines")


# ---- The driver -----------------------------------------------------------

def read_until(p, ends, want, rest=0, step=4096):
    """Read at random until an error that is in `ends`, with rests."""
    order, names = random.Random(os.getpid()), list(want)
    while True:
        n = order.choice(names)
        time.sleep(rest)
        try:
            fd = os.open(f"{p}/{n}", os.O_RDONLY |
                         (os.O_DIRECT if order.random() < 0.5 else 0))
            try:
                at = order.randrange(len(want[n]))
                part_of = want[n][at:at + step]
                got = os.pread(fd, step, at)
                check(got and part_of.startswith(got), f"{n} at {at}")
                # An error in the second page of two is told by the next read.
                if len(got) < len(part_of):
                    os.pread(fd, 1, at + len(got))
                    fail(f"{n} at {at}: {len(got)} bytes")
            finally:
                os.close(fd)
        except OSError as e:
            check(e.errno in ends, f"{n}: {e}")
            return


def list_until(p, ends):
    while True:
        try:
            check(len(os.listdir(f"{p}/records")) == N, "names")
            # A name that the kernel does not know yet.
            os.stat(f"{p}/batches/{random.randrange(1, 1 << 31)}")
        except OSError as e:
            check(e.errno in ends, f"{e}")
            return


def touch_map(p, name, told):
    """Reads pages of a map, one more whenever told."""
    with open(f"{p}/{name}", "rb") as f:
        m = mmap.mmap(f.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)
        # No reading ahead: what is not touched is not there.
        m.madvise(mmap.MADV_RANDOM)
    check(m[:6] == b"\x93NUMPY", "map")
    os.write(told[1][1], b"1")
    os.read(told[0][0], 1)
    check(m[:6] == b"\x93NUMPY", "a page that was read")
    os.write(told[1][1], b"2")
    print(m[len(m) * 3 // 4])


@part("the driver is killed amid reads")
def killed():
    for round_number in range(12 if LONG else 3):
        c = list(CONTAINERS)[round_number % 4]
        want = names_of(CONTAINERS[c])
        # What is pushed is there when the driver is gone.
        m = Mount(c, "-o", "push=off",
                  *(("-s",) if round_number % 2 else ()))
        p = m.__enter__()
        pid = driver_of(p)
        told = os.pipe(), os.pipe()
        mapped = Child(touch_map, p, "all.npy" if c != RAGGED else
                       "batches/256/0.npz", told) if c != RAGGED else None
        children = [Child(read_until, p, GONE, want) for _ in range(6)] + \
            [Child(list_until, p, GONE) for _ in range(2)]
        if mapped:
            os.read(told[1][0], 1)
        fd = os.open(f"{p}/records/000001.npy", os.O_RDONLY | os.O_DIRECT)
        time.sleep(0.2 + 0.01 * round_number)
        os.kill(pid, signal.SIGKILL)
        for child in children:
            child.done(20)
        if mapped:
            os.write(told[0][1], b"1")
            check(mapped.status(20) == -signal.SIGBUS, "map")
            check(os.read(told[1][0], 1) == b"2", "map of what was read")
        # What the kernel has is still there, attributes too; all else says
        # that it is gone, and statvfs always does.
        for what, call in (
                ("statvfs", lambda: os.statvfs(p)),
                ("a new name", lambda: os.stat(f"{p}/batches/4321")),
                ("a name that never was", lambda: os.stat(f"{p}/none")),
                ("direct read", lambda: os.pread(fd, 9, 9))):
            try:
                call()
                fail(f"a dead mount answers {what}")
            except OSError as e:
                check(e.errno in GONE, f"dead mount: {what}: {e}")
        os.close(fd)
        check(is_mounted(p), "a dead mount is listed")
        q = quiet(FS, c, p)
        check(q.returncode == 32 and "driver died" in q.stderr and
              p in q.stderr and len(q.stderr.splitlines()) == 1,
              f"over a dead mount: {q}")
        check(quiet("fusermount3", "-u", p).returncode == 0, "clear")
        check(quiet(FS, c, p).returncode == 0 and
              read(f"{p}/records/1.npy") == want["records/000001.npy"],
              "again")
        check(quiet("fusermount3", "-u", p).returncode == 0, "unmount")
        for fds in told:
            for f in fds:
                os.close(f)


@part("auto_unmount clears up after a driver that was killed")
def auto_unmount():
    # fusermount3 looks once, and may look a little too early.
    for left in (2, 1, 0):
        m = Mount(ZSTD, "-o", "auto_unmount")
        p = m.__enter__()
        pid = driver_of(p)
        # A listing is what hid the death of the driver from fusermount3.
        check(len(os.listdir(f"{p}/records")) == N, "names")
        children = [Child(read_until, p, (*GONE, errno.ENOENT), names_of(rows))
                    for _ in range(3)]
        time.sleep(0.1)
        os.kill(pid, signal.SIGKILL)
        for child in children:
            child.done(20)
        if wait_until(lambda: not is_mounted(p), 5):
            check(os.listdir(p) == [], "not clear")
            return
        check(left, "still mounted")
        quiet("fusermount3", "-uz", p)


@part("unmounted amid reads")
def unmounted():
    want = names_of(rows)
    for lazy in (False, True):
        for _ in range(10 if LONG else 2):
            m = Mount(ZSTD)
            p = m.__enter__()
            # Before there is something open for them to inherit.
            children = [Child(read_until, p, (errno.ENOENT,), want,
                              0 if lazy else 0.02)
                        for _ in range(4 if lazy else 2)]
            if lazy:
                children.append(Child(list_until, p, (errno.ENOENT,)))
            time.sleep(0.1)
            held = [(os.open(f"{p}/{n}", os.O_RDONLY), want[n]) for n in
                    ("all.npy", "records/000002.npy", "gather/20,0:3.npy")]
            q = quiet("fusermount3", "-u", p)
            check(q.returncode == 1 and "busy" in q.stderr and is_mounted(p),
                  f"unmounted while open: {q}")
            if lazy:
                check(quiet("fusermount3", "-uz", p).returncode == 0, "lazy")
            for child in children:
                if lazy:
                    child.done(20)
            for fd, data in held:
                out = b""
                while piece := os.pread(fd, 100000, len(out)):
                    out += piece
                check(out == data, "a file that was open")
                os.close(fd)
            if not lazy:
                # Between two files of the readers there is a moment.
                check(wait_until(lambda: quiet(
                    "fusermount3", "-u", p).returncode == 0), "busy")
                for child in children:
                    child.done(20)
            check(wait_until(lambda: not drivers(p)), "the driver stays")


@part("SIGTERM with open files, amid reads")
def terminated():
    want = names_of(rows)
    for options in (("-f",), ("-f", "-s")):
        m = Mount(RAW, *options)
        p = m.__enter__()
        fds = {n: os.open(f"{p}/{n}", os.O_RDONLY) for n in want}
        children = [Child(read_until, p, (errno.ENOENT,), want)
                    for _ in range(3)]
        first = {n: os.pread(fd, 99, 0) for n, fd in fds.items()}
        m.process.send_signal(signal.SIGTERM)
        check(wait_until(lambda: not is_mounted(p)), "mounted")
        for child in children:
            child.done(20)
        for n, fd in fds.items():
            got, data = first[n], want[n]
            while piece := os.pread(fd, 60000, len(got)):
                got += piece
            check(got == data, n)
            check(m.process.poll() is None, "ended while files were open")
            os.close(fd)
        check(m.process.wait(PATIENCE) == 0, f"status, {m.text()!r}")
        check(m.text() == "", m.text())


# ---- Readers and signals --------------------------------------------------

def alarms(interval):
    """A signal every `interval`, for whose handler calls are interrupted."""
    count = [0]

    def handler(number, frame):
        count[0] += 1
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, interval, interval)
    return count


@part("signals during listings and reads")
def alarmed():
    wide = make_dense("wide", np.zeros((60000, 1), "|u1"))
    want = npy(rows)
    libc.read.restype = ctypes.c_ssize_t
    # libc's own calls: Python's begin again when they are interrupted.
    libc.opendir.restype = libc.readdir.restype = ctypes.c_void_p

    def lister(p, again):
        count = alarms(0.0005)
        for _ in range(again):
            d = ctypes.c_void_p(libc.opendir(f"{p}/records".encode()))
            check(d.value, "opendir")
            names = []
            while e := libc.readdir(d):
                names.append(ctypes.string_at(e + 19))
            libc.closedir(d)
            check(len(names) == 60002 and len(set(names)) == 60002,
                  f"{len(names)} names, {len(set(names))} different")
        check(count[0] > 3, f"{count[0]} signals")

    def reader(p, flags, again):
        count = alarms(0.0005)
        buf = ctypes.create_string_buffer(1 << 20)
        for _ in range(again):
            fd = os.open(f"{p}/all.npy", os.O_RDONLY | flags)
            out = b""
            while n := libc.read(fd, buf, ctypes.c_size_t(1 << 20)):
                check(n > 0, f"read: {os.strerror(ctypes.get_errno())}")
                out += buf.raw[:n]
            os.close(fd)
            check(out == want, "bytes")
        check(count[0] > 3, f"{count[0]} signals")
    again = 20 if LONG else 2
    for options in ((), ("-s",)):
        with Mount(wide, *options) as p, Mount(ZSTD, *options) as q:
            children = [Child(lister, p, again) for _ in range(2)] + \
                [Child(reader, q, flags, 5 * again)
                 for flags in (0, os.O_DIRECT)]
            for child in children:
                child.done()


@part("readers that are killed, a driver that is stopped")
def stopped():
    want = names_of(rows)
    for options in ((), ("-s",)):
        with Mount(ZSTD, *options) as p:
            alive = Alive(p)
            for _ in range(10 if LONG else 2):
                children = [Child(read_until, p, (), want)
                            for _ in range(4)] + [Child(list_until, p, ())]
                time.sleep(0.05)
                os.kill(alive.pid, signal.SIGSTOP)
                try:
                    time.sleep(0.05)
                    for child in children:
                        os.kill(child.pid, signal.SIGKILL)
                finally:
                    os.kill(alive.pid, signal.SIGCONT)
                # The kernel waits for requests that the driver has.
                for child in children:
                    check(child.status(10) == -signal.SIGKILL, "killed")
                for n in ("records/000005.npy", "batches/9/3.npy"):
                    check(direct(f"{p}/{n}") == want[n], n)
            alive.check("killed readers")


@part("the end of a mount is noticed, beside busy processes")
def noticed():
    def busy():
        while True:
            pass
    children = [Child(busy) for _ in range(2 * os.cpu_count())]
    for _ in range(400 if LONG else 40):
        with Mount(ZSTD, "-o", "cache=direct") as p:
            # What follows a read: the release of the file, and then the end.
            for i in range(5):
                check(read(f"{p}/records/{i:06}.npy") == npy(rows[i]), "bytes")
    for child in children:
        child.kill()
