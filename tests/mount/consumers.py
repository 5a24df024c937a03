#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that know nothing of containers read the mount: numpy, pandas,
torch, xtensor, npyjs, zip and archive tools; and what cannot work fails as it
should."""
import errno
import hashlib
import re
import zipfile

from parts import *

N = 60
rng = np.random.default_rng(9)
rows = rng.integers(-99, 999, (N, 5, 7)).astype("<f4") / 4
mixed = [rng.integers(-9, 99, (1 + i % 7, 1 + i % 5)).astype("<i2")
         for i in range(N)]
DENSE = make_dense("dense", rows, "zstd")
RAGGED = make_ragged("ragged", mixed)
GOLDEN = f"{DATA}/golden"


def tool(name):
    path = shutil.which(name)
    if not path:
        raise Skip(f"there is no {name} here")
    return path


def shell(command, **more):
    """Output of a command that must succeed and say nothing else."""
    p = quiet("bash", "-o", "pipefail", "-c", command, **more)
    check(p.returncode == 0 and not p.stderr,
          f"{command}: {p.returncode}: {p.stderr[-500:]}")
    return p.stdout


def refused(code, call):
    try:
        call()
    except OSError as e:
        check(e.errno == code, f"{e}")
    else:
        fail("is not refused")


# ---- numpy and Python -----------------------------------------------------

@part("numpy: load, map, open_memmap, fromfile")
def numpy_reads():
    with Mount(DENSE) as p:
        files = {"all.npy": rows, "records/000003.npy": rows[3],
                 "records/3.npy": rows[3], "batches/7/2.npy": rows[14:21],
                 "batches/256/000000.npy": rows, "gather/::-1.npy": rows[::-1],
                 "gather/5,5,1.npy": rows[[5, 5, 1]]}
        for name, want in files.items():
            f = f"{p}/{name}"
            check((np.load(f) == want).all(), f"{name}: load")
            for mode in ("r", "c"):
                a = np.load(f, mmap_mode=mode)
                check(a.dtype == want.dtype and (a == want).all() and
                      a.flags.writeable == (mode == "c"), f"{name}: {mode}")
            a[...] = 7  # a map of mode c is ours
            check((np.load(f) == want).all(), f"{name}: a change got out")
            a = np.lib.format.open_memmap(f, mode="r")
            check((a == want).all(), f"{name}: open_memmap")
            a = np.memmap(f, "<f4", "r", offset=128, shape=want.shape)
            check((a == want).all(), f"{name}: memmap")
            a = np.fromfile(f, "<f4", offset=128)
            check((a == want.ravel()).all(), f"{name}: fromfile")
            a = np.fromfile(f, "<f4", count=7, offset=128 + 4 * 7)
            check((a == want.ravel()[7:14]).all(), f"{name}: a part")
            with open(f, "rb") as h:
                check((np.load(h) == want).all() and h.read() == b"",
                      f"{name}: load of an open file")
            # "r+" is what open_memmap takes when it is not told.
            refused(errno.EROFS, lambda: np.load(f, mmap_mode="r+"))
            refused(errno.EROFS, lambda: np.lib.format.open_memmap(f))
            refused(errno.EROFS, lambda: np.save(f, want))
        check((np.stack([np.load(f"{p}/records/{n}") for n in
                         sorted(os.listdir(f"{p}/records"))]) == rows).all(),
              "all records")
    with Mount(RAGGED) as p:
        for name, want in (("batches/256/0.npz", mixed),
                           ("batches/7/2.npz", mixed[14:21]),
                           ("gather/9,3.npz", [mixed[9], mixed[3]])):
            # A map of an .npz is asked for in vain; numpy then just reads.
            for mode in (None, "r"):
                with np.load(f"{p}/{name}", mmap_mode=mode) as z:
                    check(z.files == [f"arr_{i}" for i in range(len(want))],
                          f"{name}: members")
                    check(all((z[k] == a).all() and z[k].dtype == a.dtype
                              for k, a in zip(z.files, want)), name)


@part("numpy: every type that golden containers have")
def numpy_types():
    with open(f"{GOLDEN}/manifest.json", encoding="utf-8") as f:
        names = json.load(f)["containers"]
    count = 0
    for name in names:
        if not name.startswith("dtype_") and "rank20" not in name:
            continue
        count += 1
        with Mount(f"{GOLDEN}/{name}") as p:
            f = f"{p}/records/000001.npy"
            a, b = np.load(f), np.load(f, mmap_mode="r")
            check(a.dtype == b.dtype and a.shape == b.shape and
                  a.tobytes() == b.tobytes(), name)
            offset = os.stat(f).st_size - a.nbytes
            # Readers that know no other headers need no other.
            with open(f, "rb") as h:
                check(np.lib.format.read_magic(h) == (1, 0) and
                      not np.lib.format.read_array_header_1_0(h)[1],
                      f"{name}: header")
            check(np.fromfile(f, "u1", offset=offset).tobytes() ==
                  a.tobytes() and offset % 64 == 0, f"{name}: fromfile")
            del a, b  # a map keeps the mount busy
    check(count > 30, f"{count} containers")


@part("Python's zipfile, unzip")
def zips():
    with Mount(RAGGED) as p:
        for name in ("batches/256/0.npz", "batches/9/3.npz", "gather/::-3.npz",
                     "gather/5:5.npz"):
            with zipfile.ZipFile(f"{p}/{name}") as z:
                check(z.testzip() is None, f"{name}: testzip")
                check(all(i.compress_type == zipfile.ZIP_STORED
                          for i in z.infolist()), f"{name}: stored")
            if shutil.which("unzip") and name != "gather/5:5.npz":
                out = shell(f"unzip -t {p}/{name}")
                check("No errors detected" in out, out[-300:])
        tool("unzip")
        shell(f"unzip -q {p}/batches/256/0.npz -d {WORK}/unzipped")
        for i, a in enumerate(mixed):
            check(read(f"{WORK}/unzipped/arr_{i}.npy") == npy(a), f"arr_{i}")


def python_with(*modules):
    """An interpreter that has the modules."""
    code = "".join(f"import {m};" for m in modules)
    for python in dict.fromkeys((sys.executable, "/usr/bin/python3",
                                 shutil.which("python3"))):
        if python and os.path.exists(python) and not quiet(
                python, "-W", "ignore", "-c", code).returncode:
            return python
    raise Skip(f"no python3 here has {' and '.join(modules)}")


def python(interpreter, code, *args):
    p = quiet(interpreter, "-W", "ignore", "-c", code, *args, timeout=100)
    check(p.returncode == 0, f"{p.stdout[-200:]}{p.stderr[-1500:]}")


@part("pandas")
def pandas():
    interpreter = python_with("pandas")
    table = rows[:, 0].copy()
    c = make_dense("table", table.reshape(N // 4, 4, 7))
    with Mount(c) as p:
        np.save(f"{WORK}/table.npy", table)
        python(interpreter, """
import sys, numpy as np, pandas as pd
p, want = sys.argv[1], pd.DataFrame(np.load(sys.argv[2]))
all = np.load(p + "/all.npy", mmap_mode="r").reshape(-1, 7)
pd.testing.assert_frame_equal(pd.DataFrame(all), want)
assert pd.DataFrame(all).groupby(0).sum().equals(want.groupby(0).sum())
pd.testing.assert_frame_equal(pd.DataFrame(np.load(p + "/records/2.npy")),
                              want[8:12].reset_index(drop=True))
text = pd.read_csv(p + "/text/000002.txt", sep=" ", header=None)
pd.testing.assert_frame_equal(text.astype("f4"),
                              want[8:12].reset_index(drop=True))
""", p, f"{WORK}/table.npy")


TORCH = """
import sys, numpy as np, torch
from torch.utils.data import DataLoader
p, flat, want = sys.argv[1], sys.argv[2], np.load(sys.argv[3])
def load(path):
    return torch.from_numpy(np.load(path))
a = torch.from_numpy(np.load(p + "/records/000003.npy", mmap_mode="c"))
assert (a.numpy() == want[3]).all()
def whole(data, workers):
    seen = 0
    for x, y in DataLoader(data, batch_size=8, shuffle=True,
                           num_workers=workers):
        for row, label in zip(x, y):
            keys.remove((int(label), row.numpy().tobytes()))
            seen += 1
    return seen
"""


@part("torch: a dataset of paths, DataLoader")
def torch_paths():
    interpreter = python_with("torch")
    with Mount(DENSE, "-o", "layout=records") as p, \
            Mount(DENSE, "-o", "layout=flat") as q:
        np.save(f"{WORK}/want.npy", rows)
        python(interpreter, TORCH + """
import glob
class Paths(torch.utils.data.Dataset):
    def __init__(self, pattern):
        self.paths = sorted(glob.glob(pattern, recursive=True))
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, i):
        return load(self.paths[i]), 0
for pattern in (p + "/**/*.npy", flat + "/*.npy"):
    for workers in (0, 2):
        data = Paths(pattern)
        assert len(data) == len(want)
        assert all((data[i][0].numpy() == want[i]).all() for i in (0, 7, 59))
        keys = [(0, w.tobytes()) for w in want]
        assert whole(data, workers) == len(want) and not keys
""", p, q, f"{WORK}/want.npy")


@part("torchvision's DatasetFolder")
def torch_folder():
    interpreter = python_with("torch", "torchvision")
    top = tempfile.mkdtemp(dir=WORK)
    mounts = []
    for label in ("cat", "dog"):
        # A class is a folder of files: mount each class flat.
        os.mkdir(f"{top}/{label}")
        m = Mount(DENSE, "-o", "layout=flat")
        os.rmdir(m.path)
        m.path = m.command[-1] = f"{top}/{label}"
        m.__enter__()
        mounts.append(m)
    with Mount(DENSE, "-o", "layout=records") as p, Mount(DENSE) as full:
        np.save(f"{WORK}/want.npy", rows)
        python(interpreter, TORCH + """
from torchvision.datasets import DatasetFolder
one = DatasetFolder(p, load, extensions=(".npy",))
assert one.classes == ["records"] and len(one) == len(want)
assert all((one[i][0].numpy() == want[i]).all() for i in range(len(want)))
two = DatasetFolder(flat, load, extensions=(".npy",))
assert two.classes == ["cat", "dog"] and len(two) == 2 * len(want)
for workers in (0, 2):
    keys = [(k, w.tobytes()) for w in want for k in (0, 1)]
    assert whole(two, workers) == 2 * len(want) and not keys
# All of a container at once is not such a tree: its folders would be classes.
try:
    DatasetFolder(sys.argv[4], load, extensions=(".npy",))
except FileNotFoundError as e:
    assert "gather" in str(e) and "text" in str(e), e
else:
    raise AssertionError("the full layout")
""", p, top, f"{WORK}/want.npy", full)
    for m in mounts:
        m.__exit__(None)


# ---- Other languages ------------------------------------------------------

@part("C++: xtensor's load_npy")
def xtensor():
    cxx = tool("g++")
    source = f"{WORK}/x.cpp"
    with open(source, "w", encoding="ascii") as f:
        f.write("""
#include <iostream>
#include <xtensor/xarray.hpp>
#include <xtensor/xnpy.hpp>
int main(int n, char **v)
{
    try {
        if (n == 4) {
            xt::load_npy<double>(v[1]);
            return 0;
        }
        auto a = xt::load_npy<float>(v[1]);
        for (auto d : a.shape())
            std::cout << d << ' ';
        double sum = 0;
        for (auto x : a)
            sum = sum * 0.5 + x;
        std::cout.precision(17);
        std::cout << sum << std::endl;
    } catch (const std::exception &e) {
        std::cout << "error: " << e.what() << std::endl;
        return 3;
    }
}
""")
    if quiet(cxx, "-E", "-x", "c++", "-include", "xtensor/xnpy.hpp",
             "/dev/null").returncode:
        raise Skip("there is no xtensor here (libxtensor-dev)")
    p = quiet(cxx, "-std=c++14", "-O0", "-w", "-o", f"{WORK}/x", source,
              timeout=100)
    check(p.returncode == 0, p.stderr[-900:])

    def value(array):
        total = 0.0
        for x in array.ravel().tolist():
            total = total * 0.5 + x
        return "".join(f"{d} " for d in array.shape), total
    with Mount(DENSE) as p:
        for name, want in (("all.npy", rows), ("records/000003.npy", rows[3]),
                           ("batches/7/2.npy", rows[14:21]),
                           ("gather/::-1.npy", rows[::-1])):
            out = quiet(f"{WORK}/x", f"{p}/{name}").stdout
            shape, total = value(want)
            check(out.startswith(shape) and
                  float(out[len(shape):]) == total, f"{name}: {out}")
    # Longer headers than 128 bytes, big-endian numbers and other types than
    # the program has are not for it.
    for name, said in (("dense_rank20", "header"),
                       ("dtype_dense_bf8", "formats"),
                       ("dense_f4_raw", "formats")):
        with Mount(f"{GOLDEN}/{name}") as p:
            out = quiet(f"{WORK}/x", f"{p}/records/1.npy", "as", "double")
            check(out.returncode == 3 and said in out.stdout,
                  f"{name}: {out}")


@part("JavaScript: npyjs")
def npyjs():
    node = tool("node")
    if quiet(node, "-e", "require('npyjs')").returncode:
        raise Skip("node does not find npyjs (NODE_PATH)")
    code = """
const fs = require('fs'), npyjs = require('npyjs');
(async () => {
    for (const path of process.argv.slice(1)) {
        let said;
        try {
            const b = fs.readFileSync(path);
            const a = await npyjs.load(
                b.buffer.slice(b.byteOffset, b.byteOffset + b.length));
            said = [a.shape, a.dtype, Array.from(a.data, Number)];
        } catch (e) {
            said = 'error';
        }
        console.log(JSON.stringify(said));
    }
})();
"""

    def load(*paths):
        return [json.loads(row) for row in shell(
            f"{node} -e \"$CODE\" {' '.join(paths)}",
            env=dict(os.environ, CODE=code)).splitlines()]
    with Mount(DENSE) as p, Mount(RAGGED) as q:
        got = load(f"{p}/all.npy", f"{p}/records/3.npy", f"{p}/gather/2,0.npy",
                   f"{q}/records/000004.npy")
        for out, want in zip(got, (rows, rows[3], rows[[2, 0]], mixed[4])):
            check(out[0] == list(want.shape) and
                  out[2] == want.ravel().tolist(), f"{str(out)[:90]}")
    for name in ("dtype_dense_bf8", "dtype_dense_lM8_ns"):
        with Mount(f"{GOLDEN}/{name}") as p:
            check(load(f"{p}/records/1.npy") == ["error"], f"{name} works")


# ---- Tools ----------------------------------------------------------------

@part("file")
def file_magic():
    tool("file")
    with Mount(DENSE) as p, Mount(RAGGED) as q:
        for path, said in (
                (f"{p}/records/3.npy", "NumPy"), (f"{p}/all.npy", "NumPy"),
                (f"{q}/batches/256/0.npz", "Zip archive"),
                (f"{p}/info.json", "JSON"), (f"{p}/text/3.txt", "ASCII text"),
                (f"{p}/records", "directory")):
            out = shell(f"file -b {path}")
            check(said in out, f"{path}: {out}")


@part("text/: a size is that of a text which is made for it")
def text_sizes():
    c = make_dense("damaged", rows)
    with open(f"{c}/meta.zr", "r+b") as f:
        f.seek(4096 + 16 * 7)
        f.write(struct.pack("<Q", 1 << 50))
    with Mount(c) as p:
        check(shell(f"ls {p}/text; find {p}/text -name '*7.txt'").split() ==
              [f"{i:06}.txt" for i in range(N)] +
              [f"{p}/text/{i:06}.txt" for i in range(7, N, 10)], "names")
        # A size of its own tells that the record was read, and is bad.
        with Mount(DENSE) as q:
            for i in (6, 7, 8):
                a, b = (os.stat(f"{x}/text/{i:06}.txt").st_size
                        for x in (p, q))
                check(a == (128 if i == 7 else b) and b != 128,
                      f"{i}: {a}, {b}")


@part("after the driver died: what was read is there")
def died():
    m = Mount(DENSE, "-o", "push=off")
    with m as p:
        os.listdir(f"{p}/records")
        check((np.load(f"{p}/records/000003.npy") == rows[3]).all(), "before")
        os.kill(driver_of(p), signal.SIGKILL)
        check(wait_until(lambda: not drivers(p)), "the driver stays")
        check((np.load(f"{p}/records/000003.npy") == rows[3]).all() and
              (np.load(f"{p}/records/000003.npy", "r") == rows[3]).all(),
              "after")
        for name in ("records/000040.npy", "all.npy", "info.json"):
            refused(errno.ENOTCONN, lambda: read(f"{p}/{name}"))


@part("a driver that is stopped: who waits can be killed")
def stopped():
    with Mount(DENSE, "-o", "push=off") as p:
        os.listdir(f"{p}/records")
        pid = driver_of(p)
        for name in ("records/000050.npy", "batches/9/3.npy", "gather/3,4.npy",
                     "info.json", "text/000007.txt"):
            os.kill(pid, signal.SIGSTOP)
            try:
                # Stopped it is not before all of its threads are.
                check(wait_until(lambda: all(
                    read(f"/proc/{pid}/task/{t}/stat").split(b") ")[1][:1] ==
                    b"T" for t in os.listdir(f"/proc/{pid}/task"))), "runs")
                reader = subprocess.Popen(["cat", f"{p}/{name}"],
                                          stdout=subprocess.DEVNULL)
                time.sleep(0.2)
                check(reader.poll() is None, f"{name}: does not wait")
                reader.kill()
                try:
                    reader.wait(10)
                except subprocess.TimeoutExpired:
                    fail(f"{name}: the reader hangs")
            finally:
                os.kill(pid, signal.SIGCONT)
            check(read(f"{p}/{name}"), f"{name}: afterwards")


@part("SIGTERM: what is mapped stays, and keeps the driver")
def terminated():
    m = Mount(DENSE, "-f")
    p = m.__enter__()
    a = np.load(f"{p}/all.npy", mmap_mode="r")
    q = quiet("fusermount3", "-u", p)
    check(q.returncode and "busy" in q.stderr, f"unmounts: {q}")
    m.process.terminate()
    check(wait_until(lambda: not is_mounted(p)), "still mounted")
    check((a == rows).all(), "what was mapped")
    check(m.process.poll() is None, "ended too soon")
    del a
    check(m.process.wait(PATIENCE) == 0, m.text())
    os.rmdir(p)


def same_tree(a, b):
    shell(f"diff -r -x stats.json {a} {b}")


@part("tar, cp, sums")
def archives():
    with Mount(DENSE) as p:
        w = tempfile.mkdtemp(dir=WORK)
        shell(f"tar -C {p} -czf - . | tar -C {w} -xzf -")
        same_tree(p, w)
        shell(f"tar -C {p} --exclude=./stats.json -dzf "
              f"<(tar -C {p} -czf - .)")
        # An archive that adds only what is newer adds nothing.
        shell(f"tar -C {p} -c -g {w}.snar -f {w}.tar records")
        shell(f"tar -C {p} -c -g {w}.snar -f {w}.2.tar records")
        check(".npy" not in shell(f"tar -tf {w}.2.tar"), "incremental tar")
        shell(f"chmod -R u+w {w}; rm -rf {w}; cp -a {p} {w}")
        same_tree(p, w)
        sums = shell(f"cd {p} && find . -type f ! -name stats.json -print0 | "
                     "sort -z | xargs -0 -n 9 -P 4 sha256sum")
        with open(f"{WORK}/sums", "w", encoding="utf-8") as f:
            f.write(sums)
        shell(f"cd {p} && sha256sum --quiet -c {WORK}/sums")
        shell(f"cd {w} && sha256sum --quiet -c {WORK}/sums")
        check(hashlib.sha256(npy(rows)).hexdigest() + "  ./all.npy" in sums,
              "sum of all.npy")
        shell(f"chmod -R u+w {w}; rm -rf {w}")


@part("rsync")
def rsync():
    tool("rsync")
    with Mount(DENSE) as p:
        w = tempfile.mkdtemp(dir=WORK)
        shell(f"rsync -aHAX --exclude stats.json {p}/ {w}")
        same_tree(p, w)
        # Again: neither times nor sizes nor contents have changed.
        for how in ("", "-c"):
            out = shell(f"rsync -ai {how} --exclude stats.json {p}/ {w}")
            check(not out, f"rsync {how}: {out[:300]}")
    # ... nor in another mount.
    with Mount(DENSE, "-s") as p:
        out = shell(f"rsync -ai --exclude stats.json {p}/ {w}")
        check(not out, f"after a remount: {out[:300]}")
        shell(f"chmod -R u+w {w}; rm -rf {w}")


@part("find, du, grep, awk, sort, diff")
def searches():
    with Mount(DENSE) as p:
        whole = int(shell(f"du -s --apparent-size -B1 {p}/records "
                          "| cut -f1"))
        check(whole == N * len(npy(rows[0])), f"du: {whole}")
        check(shell(f"find {p}/records -name '*7.npy' -size -9k | wc -l") ==
              f"{N // 10}\n", "find")
        check(shell(f"find {p} -newer {DENSE}/meta.zr") == "" and
              shell(f"find {p} ! -newer {DENSE}/meta.zr -type d "
                    "| wc -l") == "6\n", "find -newer")
        check(shell(f"find {p} -writable -type f -uid +0 | head") == "",
              "find -writable")
        check(shell(f"find {p} -samefile {p}/records/5.npy") ==
              f"{p}/records/000005.npy\n", "find -samefile")
        # A number that only some records have.
        number = f"{rows[17, 2, 3]:.9g}"
        want = [f"{i:06}.txt" for i in range(N)
                if (rows[i] == rows[17, 2, 3]).any()]
        out = shell(f"grep -rlw -e '{number}' {p}/text | xargs -n1 basename "
                    "| sort")
        check("000017.txt" in out.split() and
              set(out.split()) >= set(want), f"grep {number}: {out}")
        sums = float(shell(f"cat {p}/text/*.txt | awk '{{ for (i = 1; i <= NF;"
                           " i++) s += $i } END { printf \"%.10g\", s }'"))
        check(sums == float(rows.sum(dtype="f8")), f"awk: {sums}")
        check(shell(f"cat {p}/text/*.txt | grep -c .") == f"{N * 5}\n",
              "lines")
        shell(f"ls -U {p}/records | sort -c")
        shell(f"cmp {p}/batches/60/0.npy {p}/all.npy")
        check(quiet("cmp", f"{p}/records/1.npy", f"{p}/records/2.npy")
              .returncode == 1, "cmp")
        check(shell(f"od -An -c -j1 -N5 {p}/all.npy").split() ==
              list("NUMPY"), "od")


@part("what changes files is refused, and changes nothing")
def changes():
    with Mount(DENSE) as p:
        f, d = f"{p}/records/000001.npy", f"{p}/records"
        for command in (
                f"touch {f}", f"rm -f {f}", f"rm -rf {d}", f"mv {f} {d}/x",
                f"mv {f} {WORK}/moved", f"cp /dev/null {f}", f"cp {f} {d}/x",
                f"ln {f} {d}/x", f"ln -s a {d}/x", f"mkdir {d}/x",
                f"chmod u+w {f}", f"chown 1 {f}", f"truncate -s 9 {f}",
                f"sed -i s/a/b/ {p}/text/000001.txt", f"echo x >> {f}",
                f"echo x > {d}/x", f"dd if=/dev/zero of={f} count=1",
                f"tee {f} </dev/null", f"mkfifo {d}/x", f"gzip {f}",
                f"find {d} -name '*1.npy' -delete", f"rmdir {p}/gather",
                f"install -m 644 /dev/null {d}/x", f"fallocate -l 9 {f}",
                f"tar -C {d} -xf {WORK}/t.tar"):
            if command.startswith("tar"):
                shell(f"tar -C {WORK} -cf {WORK}/t.tar --files-from /dev/null; "
                      f"touch {WORK}/x; tar -C {WORK} -cf {WORK}/t.tar x")
            if not shutil.which(command.split()[0]) and \
                    not command.startswith("echo"):
                continue
            q = quiet("bash", "-c", command)
            check(q.returncode != 0 and "Read-only file system" in q.stderr,
                  f"{command}: {q.returncode}: {q.stderr[-200:]}")
        check(read(f) == npy(rows[1]) and len(os.listdir(d)) == N, "changed")


# ---- docs/MOUNT.md --------------------------------------------------------

def doc_folder():
    """Where its blocks are run, with the containers that it speaks of."""
    top = f"{WORK}/doc"
    os.makedirs(f"{top}/animals")
    make_dense("doc/train.zr", rows, "zstd")
    make_ragged("doc/words.zr", mixed)
    for label in ("cat", "dog"):
        make_dense(f"doc/animals/{label}", rows[:9])
    os.mkdir(f"{top}/bin")
    os.symlink(FS, f"{top}/bin/zrecordfs")

    def clear():
        for name in "mwa":
            if is_mounted(f"{top}/{name}"):
                quiet("fusermount3", "-uz", f"{top}/{name}")
    atexit.register(clear)
    return top


def doc_sh(code):
    if "rsync" in code:
        tool("rsync")
    p = quiet("sh", "-eu", "-c", code, cwd=DOC, env=dict(
        os.environ, PATH=f"{DOC}/bin:{os.environ['PATH']}"))
    check(p.returncode == 0 and not p.stderr, p)


def doc_python(code, *modules):
    p = quiet(python_with("numpy", *modules), "-W", "ignore", "-c", code,
              cwd=DOC, timeout=100)
    check(p.returncode == 0, p.stderr[-1500:])


def doc_cpp(code):
    cxx = tool("g++")
    if quiet(cxx, "-E", "-x", "c++", "-include", "xtensor/xnpy.hpp",
             "/dev/null").returncode:
        raise Skip("there is no xtensor here (libxtensor-dev)")
    with open(f"{DOC}/x.cpp", "w", encoding="ascii") as f:
        f.write(code)
    p = quiet(cxx, "-std=c++14", "-w", "-o", f"{DOC}/x", f.name, timeout=100)
    check(p.returncode == 0, p.stderr[-900:])
    check(quiet(f"{DOC}/x", cwd=DOC).returncode == 0, "x.cpp")


def doc_js(code):
    node = tool("node")
    if quiet(node, "-e", "require('npyjs')").returncode:
        raise Skip("node does not find npyjs (NODE_PATH)")
    p = quiet(node, "-e", code, cwd=DOC)
    check(p.returncode == 0, p)


DOC = doc_folder()
with open(os.path.join(os.environ["TOP"], "docs/MOUNT.md"),
          encoding="utf-8") as page:
    blocks = re.findall(r"^```([a-z ]+)\n(.*?)^```$", page.read(), re.M | re.S)
kinds = {"sh": doc_sh, "python": doc_python, "cpp": doc_cpp, "js": doc_js}
blocks = [(kind.split(), code) for kind, code in blocks
          if kind.split()[0] in kinds]
check(len(blocks) > 7, f"{len(blocks)} blocks")
for number, (kind, code) in enumerate(blocks, 1):
    part(f"docs/MOUNT.md, block {number}: {' '.join(kind)}")(
        lambda: kinds[kind[0]](code, *kind[1:]))


@part("docs/MOUNT.md: its mounts go away")
def doc_unmount():
    for name in "mwa":
        p = quiet("fusermount3", "-u", f"{DOC}/{name}")
        check(p.returncode == 0, p.stderr)
        check(wait_until(lambda: not drivers(name)), f"{name}: a driver stays")
