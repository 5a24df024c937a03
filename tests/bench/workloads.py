#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Gathers of four workloads by libzrecord and by others.

usage: workloads.py --build DIR [--scale F] [--rounds N] [--batch B]
                    [--only WORD] [--no-peers]

Makes containers of each workload with loaderx (raw, zstd) and with zrecord
(zstd_dict, level 3). On each runs DIR/bench/gather (tests/bench/gather.c) with
1 thread and with all CPUs, raw also into fresh memory for each batch: against
loaderx's C functions, libzstd alone, and memcpy. Then compares with peers.py,
from Python. Prints JSON lines and tables.

Images are synthetic, smooth with noise; tokens are of real text (texts.py).
--scale 1 is 1500 images, and as many tokens as 200000 records of 512 have.
"""
import argparse
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile

import numpy as np
import loaderx
from loaderx.zrecord import Dense, Ragged

import peers
import texts

CODECS = ("raw", "zstd", "zstd_dict")
rng = np.random.default_rng(1)


def say(**row):
    print(json.dumps(row), flush=True)


def load():
    return round(os.getloadavg()[0], 1)


def image(h, w):
    y, x = np.mgrid[0:h, 0:w]
    planes = [127 + 60 * np.sin(x * rng.uniform(.01, .08) + rng.uniform(0, 6)) +
              60 * np.cos(y * rng.uniform(.01, .08) + rng.uniform(0, 6))
              for _ in range(3)]
    return (np.stack(planes) + rng.integers(0, 3, (3, h, w))) \
        .clip(0, 255).astype("u1")


def vision_dense(n, _):
    base = [image(224, 224) for _ in range(50)]
    return np.stack([np.roll(base[i % 50], 7 * i, axis=2) for i in range(n)])


def vision_ragged(n, _):
    base = [image(int(rng.integers(64, 513)), int(rng.integers(64, 513)))
            for _ in range(50)]
    return [np.ascontiguousarray(np.roll(base[i % 50], 5 * i, axis=2))
            for i in range(n)]


def tokens_dense(_, text):
    return np.array(text[:len(text) // 512 * 512]).reshape(-1, 512)


def tokens_ragged(_, text):
    # As many records as Dense has; half of the text is enough for them.
    ends = np.cumsum(rng.integers(16, 513, len(text) // 512))
    text = np.array(text[:ends[-1]])
    return [text[a:b] for a, b in zip([0, *ends], ends) if b <= len(text)]


WORKLOADS = (("vision Dense", vision_dense), ("vision Ragged", vision_ragged),
             ("tokens Dense", tokens_dense), ("tokens Ragged", tokens_ragged))


def write(path, data, codec):
    dense = isinstance(data, np.ndarray)
    step = (64 << 20) // (data[0].nbytes + 1) + 1
    c = Dense.create(path, data.dtype, data.shape[1:], codec=codec) if dense \
        else Ragged.create(path, data[0].dtype, codec=codec)
    for i in range(0, len(data), step):
        c.append(data[i:i + step])
    c.close()


def containers(data, tmp, zrecord):
    """{codec: path}; where there can be one, the same as .npy."""
    paths = {codec: f"{tmp}/{codec}.zr" for codec in CODECS}
    write(paths["raw"], data, "raw")
    write(paths["zstd"], data, "zstd")
    subprocess.run([zrecord, "recode", "--codec", "zstd_dict", "--level", "3",
                    paths["raw"], paths["zstd_dict"]], check=True)
    if isinstance(data, np.ndarray):
        np.save(f"{tmp}/dense.npy", data)
    return paths


def gather(a, path, tmp, threads, codec, fresh):
    lib = os.path.join(os.path.dirname(loaderx.__file__), "lib", "libstore.so")
    npy = f"{tmp}/dense.npy"
    cmd = [f"{a.build}/bench/gather", "-l", lib, "-b", str(a.batch),
           "-r", str(a.rounds), "-t", str(threads)]
    if codec == "raw" and os.path.exists(npy):
        cmd += ["-n", npy]
    if fresh:
        cmd += ["-f"]
    out = subprocess.run(cmd + [path], check=True, capture_output=True,
                         text=True).stdout
    return json.loads(out)


def shape_of(data):
    if isinstance(data, np.ndarray):
        return f"{len(data)} of {data.shape[1:]} {data.dtype.str}"
    sizes = [x.nbytes for x in data]
    return (f"{len(data)} of {min(sizes)} to {max(sizes)} bytes "
            f"{data[0].dtype.str}")


def measure(a, name, data, absent, rows):
    tmp = tempfile.mkdtemp(prefix="zrbench.")
    try:
        paths = containers(data, tmp, f"{a.build}/zrecord")
        for codec in CODECS:
            for threads in sorted({1, os.cpu_count()}):
                for fresh in (False, True) if codec == "raw" else (False,):
                    row = gather(a, paths[codec], tmp, threads, codec, fresh)
                    say(workload=name, codec=codec, load=load(), **row)
                    kind = codec + ", fresh" if fresh else codec
                    rows[0].append((name, kind, row))
        for codec in CODECS if a.peers else ():
            folder = f"{tmp}/{codec}.peers"
            os.mkdir(folder)
            for row in peers.compare(data, codec, paths[codec],
                                     f"{a.build}/libzrecord.so", folder,
                                     a.batch, a.rounds, absent):
                say(workload=name, codec=codec, **row)
                rows[1].append((name, codec, row))
            shutil.rmtree(folder)
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


def cell(row, key, form="{:.0f}"):
    return form.format(row[key]) if key in row else ""


def tables(rows):
    print("\n| workload | codec | threads | ours MiB/s | loaderx | libzstd | "
          "memcpy | ours / loaderx | / libzstd | / memcpy |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, codec, r in rows[0]:
        print(f"| {name} | {codec} | {r['threads']} | " + " | ".join(
            [cell(r, k + "_mib_s") for k in ("ours", "loaderx", "zstd",
                                             "memcpy")] +
            [cell(r, "ours_to_" + k, "{:.2f}") for k in ("loaderx", "zstd",
                                                         "memcpy")]) + " |")
    if not rows[1]:
        return
    print("\n| workload | codec | read by | MiB/s | thousand records/s | "
          "ours on 1 thread / it |")
    print("|---|---|---|---|---|---|")
    for name, codec, r in rows[1]:
        print(f"| {name} | {codec} | {r['peer']} | {r['mib_s']} | "
              f"{r['krec_s']} | {r['ours_1_thread_to_it']:.2f} |")


def machine(a):
    def first(cmd):
        out = subprocess.run(cmd, capture_output=True, text=True).stdout
        return (out.splitlines() or [""])[0]

    with open("/proc/cpuinfo") as f:
        cpu = [x.split(":")[1].strip() for x in f if x.startswith("model name")]
    say(machine=platform.platform(), cpu=cpu[0] if cpu else platform.machine(),
        cpus=os.cpu_count(), memory_gib=round(
            os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") / 2**30),
        load=load(),
        commit=first(["git", "describe", "--always", "--dirty"]),
        libzstd=first(["pkg-config", "--modversion", "libzstd"]),
        python=platform.python_version(), numpy=np.__version__,
        scale=a.scale, rounds=a.rounds, batch=a.batch)


def main():
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("--build", required=True)
    ap.add_argument("--scale", type=float, default=1)
    ap.add_argument("--rounds", type=int, default=9)
    ap.add_argument("--batch", type=int, default=256)
    ap.add_argument("--only", default="")
    ap.add_argument("--no-peers", dest="peers", action="store_false")
    a = ap.parse_args()
    # So that what was made is removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    machine(a)
    absent = peers.missing(f"{a.build}/venv")
    for name, why in absent.items():
        say(missing=name, why=why)
    rows = [], []
    for name, make in WORKLOADS:
        if a.only not in name:
            continue
        text = None
        if name.startswith("tokens"):
            try:
                text, about = texts.tokens(int(200000 * 512 * a.scale),
                                           f"{a.build}/bench/text")
            except ImportError as e:
                say(missing=name, why=str(e))
                continue
            say(workload=name, text=about)
        data = make(int(1500 * a.scale), text)
        say(workload=name, records=shape_of(data))
        measure(a, name, data, absent, rows)
    tables(rows)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # loaderx 2.0.7 can crash when the interpreter takes it down
