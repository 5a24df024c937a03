#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""-o preload: the kernel has all records before anyone asks, of every kind of
container; -o cache=: what stays in the kernel of what was read; and how far
ahead the kernel reads."""
import mmap
import random

from parts import *

N = 300
rng = np.random.default_rng(4)
small = rng.integers(0, 99, (N, 700), dtype="<i4")
large = rng.integers(0, 9, (3, 3 << 20), dtype="<i4")  # 12 MiB each
RAW = make_dense("raw", small)
ZSTD = make_dense("zstd", small, "zstd")
RAGGED = make_ragged("ragged", [small[i, :1 + i] for i in range(N)], "zstd")
LARGE = make_dense("large", large)
MANY = make_dense("many", rng.integers(0, 9, (N, 7000), dtype="<i4"), "zstd")
ALL = f"{WORK}/all"
os.mkdir(ALL)
os.symlink(RAW, f"{ALL}/one")
os.symlink(RAGGED, f"{ALL}/two")


def whole(point, folder, want):
    for i, w in enumerate(want):
        check(read(f"{point}/{folder}/{i:06}.npy") == w, f"record {i}")


def loaded(point, count):
    check(wait_until(lambda: stats(point)["pushed_records"] >= count),
          stats(point))


def requests(point, kind):
    return stats(point)["requests"][kind]


def asked_for(c, records, folder, rows):
    """What is asked for of records that were preloaded: READs, LOOKUPs. Tries
    again, as others on this machine drop caches."""
    for _ in range(3):
        with Mount(c, "-o", "preload") as point:
            loaded(point, records)
            before = requests(point, "read"), requests(point, "lookup")
            whole(point, folder, map(npy, rows))
            asked = (requests(point, "read") - before[0],
                     requests(point, "lookup") - before[1])
        # stats.json itself is read, and found once.
        if max(asked) <= 2:
            break
    return asked


@part("after it no record is asked for")
def preload():
    for c, rows in ((RAW, small), (ZSTD, small),
                    (RAGGED, [small[i, :1 + i] for i in range(N)])):
        asked = asked_for(c, N, "records", rows)
        check(max(asked) <= 2, f"{c}: {asked}")


@part("of several containers")
def several():
    asked = asked_for(ALL, 2 * N, "one/records", small)
    # The folder is found too.
    check(max(asked) <= 4, asked)


@part("flat")
def flat():
    with Mount(RAW, "-o", "preload,layout=flat") as point:
        time.sleep(1)
        # From the first open on, no other asks; and what the kernel was
        # given is there without a driver.
        read(f"{point}/000000.npy")
        os.kill(driver_of(point), signal.SIGKILL)
        whole(point, ".", map(npy, small))


MEMINFO = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
static int redirect(const char *name, const char *path, int flags, int mode)
{
	int (*next)(const char *, int, int);
	*(void **)&next = dlsym(RTLD_NEXT, name);
	return next(strcmp(path, "/proc/meminfo") ? path : TEXT, flags, mode);
}
int open(const char *path, int flags, int mode)
{
	return redirect("open", path, flags, mode);
}
int open64(const char *path, int flags, int mode)
{
	return redirect("open64", path, flags, mode);
}
"""


@part("half of the memory: with all that a record takes in the kernel")
def half():
    if SANITIZED:
        raise Skip("the library comes before the sanitizer's")
    with open(f"{WORK}/meminfo", "w", encoding="ascii") as f:
        f.write("MemTotal: 8192 kB\nMemAvailable: 2048 kB\n")
    with open(f"{WORK}/meminfo.c", "w", encoding="ascii") as f:
        f.write(MEMINFO)
    p = quiet(os.environ.get("CC", "cc"), "-shared", "-fPIC",
              f'-DTEXT="{WORK}/meminfo"', "-o", f"{WORK}/meminfo.so", f.name,
              "-ldl")
    check(p.returncode == 0, p.stderr)
    m = Mount(make_dense("tiny", np.arange(20000, dtype="<i4")[:, None]),
              "-o", "preload")
    m.command = ["env", f"LD_PRELOAD={WORK}/meminfo.so", *m.command]
    with m as point:
        loaded(point, 190)
        time.sleep(1)
        s = stats(point)
        check(s["pushed_records"] <= (1 << 20) // 5120 + 1, s)
        # A whole listing takes hundreds.
        check(s["requests"]["readdirplus"] < 50, s)


@part("records larger than push_mb are left out")
def left_out():
    with Mount(LARGE, "-o", "preload") as point:
        time.sleep(1)
        check(stats(point)["pushed_records"] == 0, stats(point))
        whole(point, "records", map(npy, large))


@part("an unmount in the middle")
def unmounted():
    for _ in range(5):
        m = Mount(ZSTD, "-f", "-o", "preload")
        os.listdir(m.__enter__())
        m.clear()
        check(m.process.wait(PATIENCE) == 0, m.text())
        check(wait_until(lambda: not drivers(m.path)), "a process stays")


@part("a signal in the middle")
def signalled():
    for _ in range(5):
        m = Mount(ZSTD, "-f", "-o", "preload")
        os.listdir(m.__enter__())
        os.kill(driver_of(m.path), signal.SIGTERM)
        check(m.process.wait(PATIENCE) == 0, m.text())
        check(wait_until(lambda: not drivers(m.path)), "a process stays")


@part("options that exclude each other")
def excluded():
    for o in ("preload,push=off", "cache=direct,preload", "cache=some"):
        p = quiet(FS, "-o", o, RAW, WORK)
        check(p.returncode == 1 and "zrecordfs: " in p.stderr, p)


def reads_of(point, path):
    """READ requests of a first and a second reading."""
    counts = []
    for _ in range(2):
        before = requests(point, "read")
        data = read(f"{point}/{path}")
        counts.append(requests(point, "read") - before)
    return data, counts


@part("cache=direct, auto: what is read past the cache is not pushed there")
def not_pushed():
    for o, c, files, pushes in (
            ("page", MANY, [f"records/{i:06}.npy" for i in range(N)], True),
            ("direct", MANY, [f"records/{i:06}.npy" for i in range(N)], False),
            ("page", LARGE, ["all.npy"], True),
            ("direct", LARGE, ["all.npy"], False),
            ("auto", MANY, [f"records/{i:06}.npy" for i in range(N)], True),
            ("auto", LARGE, ["all.npy"], False)):
        with Mount(c, "-o", f"cache={o}") as point:
            os.listdir(f"{point}/records")
            for name in files:
                with open(f"{point}/{name}", "rb", buffering=0) as f:
                    while f.read(1 << 20):
                        pass
            said = stats(point)
            check((said["pushed_bytes"] > 0) == pushes,
                  f"{o}, {files[0]}: {said}")


@part("cache=direct: right bytes, asked for each time")
def direct():
    with Mount(LARGE, "-o", "cache=direct") as point:
        data, counts = reads_of(point, "records/000001.npy")
        check(data == npy(large[1]), "bytes")
        check(min(counts) >= 12, counts)
        with open(f"{point}/records/000002.npy", "rb") as f:
            want = npy(large[2])
            rand = random.Random(1)
            for _ in range(200):
                at, n = rand.randrange(len(want)), rand.randrange(1 << 18)
                check(os.pread(f.fileno(), n, at) == want[at:at + n], (at, n))


@part("cache=auto: large files as with direct, small ones stay")
def auto():
    with Mount(LARGE, "-o", "cache=auto") as point:
        check(min(reads_of(point, "records/000001.npy")[1]) >= 12, "large")
    with Mount(RAW, "-o", "cache=auto") as point:
        data, counts = reads_of(point, "records/000001.npy")
        # One is of stats.json.
        check(data == npy(small[1]) and counts[1] <= 1, counts)


@part("cache=direct: files can be mapped")
def mapped():
    release = tuple(int(x) for x in os.uname().release.split(".")[:2])
    if release < (6, 6):
        raise Skip("Linux before 6.6 maps no file that is not cached")
    with Mount(LARGE, "-o", "cache=direct") as point:
        a = np.load(f"{point}/records/000000.npy", mmap_mode="r")
        check(np.array_equal(a, large[0]), "mapped shared")
        with open(f"{point}/records/000001.npy", "rb") as f:
            with mmap.mmap(f.fileno(), 0, flags=mmap.MAP_PRIVATE) as view:
                check(view[:] == npy(large[1]), "mapped private")
        del a


@part("readahead_kb: the window of the kernel, as root")
def window():
    if os.geteuid():
        raise Skip("only root may raise it")
    with Mount(LARGE, "-o", "readahead_kb=2048") as p:
        dev = os.stat(p).st_dev
        name = f"/sys/class/bdi/{os.major(dev)}:{os.minor(dev)}/read_ahead_kb"
        kib = int(read(name))
        check(kib == stats(p)["read_ahead_kib"] == 2048, kib)
        check(read(f"{p}/all.npy") == npy(large), "bytes")
        check(requests(p, "read") <= 50, "small READs")
