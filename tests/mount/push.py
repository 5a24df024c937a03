#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Records that the kernel is told ahead of readers: the bytes are right
whoever reads and however, and nobody waits for ever."""
import errno
import mmap
import random
import signal
import threading

from common import *

N = 600
rng = np.random.default_rng(3)
array = rng.integers(0, 99, (N, 1500), dtype="<i4")
ragged = [array[i, :1 + i * 7 % 1500] for i in range(N)]
large = rng.integers(0, 9, (40, 100000), dtype="<i4")
files = {
    make_dense("raw", array): list(map(npy, array)),
    make_dense("zstd", array, "zstd"): list(map(npy, array)),
    make_ragged("ragged", ragged, "zstd"): list(map(npy, ragged)),
    make_dense("large", large): list(map(npy, large)),
}
RAW, *_ = files


def told(p):
    time.sleep(0.2)  # what was read of it before is forgotten
    return json.loads(read(f"{p}/stats.json"))


def listed(p):
    return sorted(e.name for e in os.scandir(f"{p}/records"))


def in_order(p, want, first=0):
    for i in range(first, len(want)):
        check(read(f"{p}/records/{i:06}.npy") == want[i], f"{p}: record {i}")


def mapped(p, want):
    for i in range(len(want)):
        with open(f"{p}/records/{i:06}.npy", "rb") as f:
            with mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as view:
                check(view[:] == want[i], f"{p}: record {i}, mapped")


def jumping(p, want):
    """Runs of every length, from anywhere: most end in the middle."""
    rand = random.Random(7)
    for _ in range(60):
        at = rand.randrange(len(want))
        for i in range(at, min(len(want), at + rand.randrange(40))):
            check(read(f"{p}/records/{i:06}.npy") == want[i],
                  f"{p}: record {i}, jumping")


def together(*readers):
    """Each in a process of its own; nobody may take for ever."""
    pids = []
    for function, *args in readers:
        pid = os.fork()
        if pid == 0:
            try:
                function(*args)
                os._exit(0)
            except BaseException as e:
                print(f"{function.__name__}: {e}", flush=True)
                os._exit(1)
        pids.append(pid)

    def done(pid):
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    for pid in pids:
        if not wait_until(lambda: done(pid)):
            for other in pids:
                os.kill(other, signal.SIGKILL)
            fail("a reader hangs")
        check(os.waitpid(pid, 0)[1] == 0, "a reader failed")


for c, want in files.items():
    with Mount(c) as p:
        listed(p)
        in_order(p, want)
        m = told(p)
        # Most records were there before they were asked for.
        check(m["pushed_records"] > 0, f"{c}: nothing is pushed: {m}")
        check(m["requests"]["lookup"] < 10, f"{c}: {m}")
        if c == RAW:
            check(m["requests"]["read"] < N * 3 // 4, f"{c}: {m}")
        for again in range(5):  # others on this machine drop caches too
            before = m["requests"]["read"]
            in_order(p, want)
            m = told(p)
            if m["requests"]["read"] == before + 1:
                break
        check(m["requests"]["read"] == before + 1,
              f"{c}: read again after {before}: {m}")
        sizes = [os.stat(f"{p}/records/{n}").st_size for n in listed(p)]
        check(sizes == list(map(len, want)), f"{c}: sizes")
    with Mount(c, "-o", "push=off") as p:
        listed(p)
        in_order(p, want)
        check(told(p)["pushed_records"] == 0, f"{c}: push=off pushes")

# Without a listing the kernel does not know the files, but for a few that are
# looked up while they are pushed.
with Mount(RAW) as p:
    in_order(p, files[RAW])
    check(told(p)["pushed_records"] < N // 2, "pushed what is not known")

# One serving thread, and several; readers that are alike and unlike.
for options in (("-s",), (), ("-o", "push_mb=1,cache_mb=0")):
    for c, want in files.items():
        with Mount(c, *options) as p:
            listed(p)
            together(*((in_order, p, want, i) for i in range(8)))
        with Mount(c, *options) as p:
            listed(p)
            together(*((f, p, want) for f in
                       (mapped, mapped, in_order, in_order, jumping, jumping,
                        jumping, listed) if f is not listed))
            listed(p)

# The kernel forgets pages and files while they are pushed.
if drop_caches():
    for options in (("-s",), ()):
        with Mount(RAW, *options) as p:
            stop = threading.Event()

            def forget():
                while not stop.wait(0.01):
                    drop_caches()
                    listed(p)
            t = threading.Thread(target=forget)
            t.start()
            try:
                for _ in range(2):
                    in_order(p, files[RAW])
                    mapped(p, files[RAW])
            finally:
                stop.set()
                t.join()

# Unmounted, or told to end, in the middle of pushing.
for end in ("lazy", "signal", "lazy", "signal", "busy"):
    for options in (("-s",), ()):
        m = Mount(RAW, *options)
        p = m.__enter__()
        names = listed(p)
        fds = [os.open(f"{p}/records/{n}", os.O_RDONLY) for n in names[:200]]
        for fd, want in zip(fds[:20], files[RAW]):
            check(os.pread(fd, 1 << 20, 0) == want, "before the end")
        if end == "lazy":
            quiet("fusermount3", "-uz", p)
        elif end == "signal":
            os.kill(driver_of(p), signal.SIGTERM)
        else:
            check(quiet("fusermount3", "-u", p).returncode, "busy: unmounted")
        for fd, want in zip(fds[20:], files[RAW][20:]):
            check(os.pread(fd, 1 << 20, 0) == want, "after the end")
            os.close(fd)
        for fd in fds[:20]:
            os.close(fd)
        quiet("fusermount3", "-uz", p)
        check(wait_until(lambda: not drivers(p)), f"{end}: the driver stays")

# A bad record among good ones is not pushed, and stops nothing.
with open(f"{RAW}/meta.zr", "r+b") as f:
    f.seek(4096 + 16 * 300)
    f.write(struct.pack("<Q", 1 << 50))
with Mount(RAW) as p:
    listed(p)
    for i, want in enumerate(files[RAW]):
        try:
            check(read(f"{p}/records/{i:06}.npy") == want, f"bad: {i}")
            check(i != 300, "the bad record is served")
        except OSError as e:
            check((i, e.errno) == (300, errno.EIO), f"bad: {i}: {e}")
    check(told(p)["pushed_records"] > 300, "stopped at the bad record")

for wrong in ("push=maybe", "push_mb=0", "push_mb=4096", "push_mb="):
    q = quiet(FS, "-o", wrong, RAW, WORK)
    check(q.returncode == 1 and wrong in q.stderr, f"{wrong}: {q.stderr}")
