#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A folder of containers: a directory for each, as if mounted alone."""
from common import *

rng = np.random.default_rng(4)
folder = os.path.join(WORK, "data")
os.makedirs(f"{folder}/not one")
os.mkdir(f"{folder}/.train.x.zrtmp")
with open(f"{folder}/.train.x.zrtmp/meta.zr", "wb") as f:
    f.write(b"half of one")
with open(f"{folder}/README", "w", encoding="ascii") as f:
    f.write("no container either")
arrays = {
    "train": rng.integers(0, 9, (300, 7)).astype("<i4"),
    "val": rng.integers(0, 9, (20, 3, 2)).astype("<f8"),
    "z\udcffé\"\\\n": np.arange(5, dtype="|u1")[:, None],
}
for name, array in arrays.items():
    make_dense(f"data/{name}", array, "zstd" if name == "train" else "raw")
ragged = [rng.integers(0, 9, n).astype("<i2") for n in range(1, 30)]
make_ragged("data/mixed", ragged, "zstd")
elsewhere = make_dense("elsewhere", arrays["val"][:9])
os.symlink(elsewhere, f"{folder}/linked")
arrays["linked"] = arrays["val"][:9]
names = sorted([*arrays, "mixed"], key=os.fsencode)


def tree(top):
    """Every file but stats.json, and its bytes."""
    out = {}
    for at, _, files in os.walk(top):
        for f in files:
            if f != "stats.json":
                path = os.path.join(at, f)
                out[os.path.relpath(path, top)] = read(path)
    return out


def says(what, *options):
    point = tempfile.mkdtemp(dir=WORK)
    p = quiet(FS, *options, folder, point)
    check(p.returncode == 32 and what in p.stderr and
          p.stderr.count("\n") == 1, f"{what}: {p.returncode} {p.stderr!r}")
    check(not is_mounted(point), f"{what}: mounted")


alone = {}
for name in names:
    with Mount(f"{folder}/{name}") as p:
        alone[name] = tree(p)
for options in ((), ("-s",)):
    with Mount(folder, "-o", "cache_mb=1", *options) as p:
        check(os.listdir(p) == ["info.json", "stats.json", *names],
              f"root: {os.listdir(p)}")
        check(os.stat(p).st_nlink == 2 + len(names), "links of the root")
        info = json.loads(read(f"{p}/info.json"))
        check(list(info) == names, f"info.json: {list(info)}")
        for name in names:
            check(json.loads(alone[name]["info.json"]) == info[name],
                  f"info.json of {name}")
            got = tree(f"{p}/{name}")
            check(got.keys() == alone[name].keys(), f"{name}: {sorted(got)}")
            for path, data in alone[name].items():
                check(got[path] == data, f"{name}/{path}")
            check(not os.path.exists(f"{p}/{name}/stats.json"), "stats.json")
            check(os.stat(f"{p}/{name}/..").st_ino == 1, "..")
            check(os.stat(f"{p}/{name}/records/..").st_ino ==
                  os.stat(f"{p}/{name}").st_ino, "../..")
        check(read(f"{p}/train/gather/5,3.npy") == npy(arrays["train"][[5, 3]])
              and read(f"{p}/val/gather/5,3.npy") == npy(arrays["val"][[5, 3]]),
              "one name in two streams")
        for name in ("README", "not one", ".train.x.zrtmp", "records", "all"):
            check(not os.path.exists(f"{p}/{name}"), name)
        check(os.statvfs(p).f_files == sum(map(len, arrays.values())) +
              len(ragged), "statvfs")
        inos = [os.stat(os.path.join(at, n)).st_ino
                for at, dirs, files in os.walk(p) for n in dirs + files]
        check(len(inos) == len(set(inos)), "two files have one number")
        # One pushes for all of them.
        os.listdir(f"{p}/train/records")
        for i in range(300):
            check(read(f"{p}/train/records/{i:06}.npy") ==
                  npy(arrays["train"][i]), f"train {i}")
for layout in ("records", "flat"):
    with Mount(folder, "-o", f"layout={layout}") as p:
        check(os.listdir(p) == names, f"{layout}: {os.listdir(p)}")
        for name, array in arrays.items():
            check(os.listdir(f"{p}/{name}") ==
                  [f"{i:06}.npy" for i in range(len(array))], f"{layout}")
            check(read(f"{p}/{name}/{len(array) - 1}.npy") == npy(array[-1]),
                  f"{layout}: {name}")
            check(os.stat(f"{p}/{name}/..").st_ino == 1, f"{layout}: ..")

# More streams than a thread has readers for, and than it may open files.
many = os.path.join(WORK, "many")
os.mkdir(many)
for i in range(400):
    make_dense(f"many/{i:03}", np.full((2, 3), i, "<i4"), "zstd")
p = quiet("sh", "-c", 'ulimit -Sn 256; exec "$@"', "-", FS, many,
          point := tempfile.mkdtemp(dir=WORK))
check(p.returncode == 0, f"many: {p.stderr}")
for i in [*range(400), *range(399, -1, -1)]:
    check(read(f"{point}/{i:03}/records/{i % 2}.npy") ==
          npy(np.full(3, i, "<i4")), f"many: {i}")
quiet("fusermount3", "-u", point)
check(wait_until(lambda: not drivers(point)), "the driver stays")

# What cannot be mounted is named, and what cannot be looked into: a container
# may be behind it.
os.symlink("not fetched", f"{folder}/a link")
says(f"{folder}/a link: cannot tell whether it is a container")
os.unlink(f"{folder}/a link")
os.mkdir(f"{folder}/half")
os.symlink("not fetched", f"{folder}/half/meta.zr")
says(f"{folder}/half: meta.zr is a link to a file that is not there")
shutil.rmtree(f"{folder}/half")
if os.getuid() == 0:
    closed = tempfile.mkdtemp(prefix="zrecord-closed.", dir="/tmp")
    try:
        os.makedirs(f"{closed}/secret")
        os.chmod(closed, 0o755)
        os.chmod(f"{closed}/secret", 0o700)
        os.mkdir(f"{closed}/lost+found", 0o700)
        p = quiet("setpriv", "--reuid=65534", "--regid=65534",
                  "--clear-groups", FS, closed, closed)
        check(p.returncode == 32 and f"{closed}/secret: cannot tell" in
              p.stderr, f"closed: {p.returncode} {p.stderr!r}")
    finally:
        shutil.rmtree(closed)
# A list of names that breaks off, as on a disk or a server that fails.
with open(f"{WORK}/shim.c", "w", encoding="ascii") as f:
    f.write("""#include <dirent.h>
#include <errno.h>
#include <stddef.h>
struct dirent *readdir(DIR *d) { (void)d; errno = EIO; return NULL; }
struct dirent *readdir64(DIR *d) { return readdir(d); }
""")
subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o",
                f"{WORK}/shim.so", f"{WORK}/shim.c"], check=True)
p = quiet("env", f"LD_PRELOAD={WORK}/shim.so", FS, folder,
          point := tempfile.mkdtemp(dir=WORK))
check(p.returncode == 32 and "broke off: Input/output error" in p.stderr,
      f"a list that breaks off: {p.returncode} {p.stderr!r}")
os.truncate(f"{folder}/val/meta.zr", 100)
says(f"{folder}/val")
shutil.rmtree(f"{folder}/val")
make_dense("data/info.json", arrays["linked"])
says("data/info.json")
with Mount(folder, "-o", "layout=flat") as p:
    check("info.json" in os.listdir(p), "info.json is a folder now")
for name in [*names, "info.json"]:
    if os.path.islink(f"{folder}/{name}"):
        os.unlink(f"{folder}/{name}")
    else:
        shutil.rmtree(f"{folder}/{name}", ignore_errors=True)
says(f"{folder} is neither")
