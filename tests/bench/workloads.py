#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Gathers of four workloads by libzrecord and by loaderx, in one process each.

usage: workloads.py --gather PROGRAM --zrecord PROGRAM [--scale F] [--rounds N]
                    [--batch B] [--only WORD] [--keep DIR]

Makes containers with loaderx (raw, zstd) and with zrecord (zstd_dict), runs
tests/bench/gather.c on each, and prints its JSON lines and a table. Needs
numpy and loaderx 2.0.7. The token workloads are words of the texts that a
Debian machine has (/usr/share/common-licenses, copyright files), numbered in
the order they first appear; the images are synthetic, smooth with noise.
"""
import argparse, glob, json, os, platform, shutil, subprocess, sys, tempfile

import numpy as np
import loaderx
from loaderx.zrecord import Dense, Ragged

rng = np.random.default_rng(1)


def image(h, w):
    y, x = np.mgrid[0:h, 0:w]
    planes = [127 + 60 * np.sin(x * rng.uniform(.01, .08) + rng.uniform(0, 6)) +
              60 * np.cos(y * rng.uniform(.01, .08) + rng.uniform(0, 6))
              for _ in range(3)]
    return (np.stack(planes) + rng.integers(0, 3, (3, h, w))) \
        .clip(0, 255).astype("u1")


def tokens():
    names = sorted(glob.glob("/usr/share/common-licenses/*") +
                   glob.glob("/usr/share/doc/*/copyright"))[:400]
    number = {}
    return np.array([number.setdefault(w, len(number)) for n in names
                     if os.path.isfile(n)
                     for w in open(n, "rb").read().split()], "<i4")


def workloads(scale):
    n, m = int(1500 * scale), int(200000 * scale)
    base = [image(224, 224) for _ in range(50)]
    yield "vision Dense", 250, np.stack(
        [np.roll(base[i % 50], 7 * i, axis=2) for i in range(n)])
    base = [image(int(rng.integers(64, 513)), int(rng.integers(64, 513)))
            for _ in range(50)]
    yield "vision Ragged", 250, [
        np.ascontiguousarray(np.roll(base[i % 50], 5 * i, axis=2))
        for i in range(n)]
    text = tokens()
    at = rng.integers(0, len(text) - 512, m)
    yield "tokens Dense", 4000, np.stack([text[p:p + 512] for p in at])
    yield "tokens Ragged", 4000, [
        text[p:p + k] for p, k in zip(at, rng.integers(16, 513, m))]


def write(path, data, step, codec):
    dense = isinstance(data, np.ndarray)
    c = Dense.create(path, data.dtype, data.shape[1:], codec=codec) if dense \
        else Ragged.create(path, data[0].dtype, codec=codec)
    for i in range(0, len(data), step):
        c.append(data[i:i + step])
    c.close()


def main():
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("--gather", required=True)
    ap.add_argument("--zrecord", required=True)
    ap.add_argument("--scale", type=float, default=1)
    ap.add_argument("--rounds", default="9")
    ap.add_argument("--batch", default="256")
    ap.add_argument("--only", default="")
    a = ap.parse_args()
    lib = os.path.join(os.path.dirname(loaderx.__file__), "lib", "libstore.so")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"],
                            capture_output=True, text=True).stdout.strip()
    print(f"# {platform.platform()}, {os.cpu_count()} CPUs, load "
          f"{os.getloadavg()[0]:.1f}, commit {commit}, batch {a.batch}, "
          f"{a.rounds} rounds, scale {a.scale}", flush=True)
    rows = []
    tmp = tempfile.mkdtemp(prefix="zrbench.")
    try:
        for name, step, data in workloads(a.scale):
            if a.only not in name:
                continue
            for codec in ("raw", "zstd", "zstd_dict"):
                path = os.path.join(tmp, codec)
                if codec == "zstd_dict":
                    subprocess.run([a.zrecord, "recode", "--codec", codec,
                                    "--level", "3", tmp + "/raw", path],
                                   check=True)
                else:
                    write(path, data, step, codec)
                out = subprocess.run([a.gather, lib, path, a.batch, a.rounds],
                                     check=True, capture_output=True,
                                     text=True).stdout
                row = json.loads(out)
                row.update(workload=name, codec=codec)
                del row["container"]
                print(json.dumps(row), flush=True)
                rows.append(row)
            for codec in ("raw", "zstd", "zstd_dict"):
                shutil.rmtree(os.path.join(tmp, codec))
    finally:
        shutil.rmtree(tmp, ignore_errors=True)
    print("\n| workload | codec | ours MiB/s | loaderx MiB/s | ratio |")
    print("|---|---|---|---|---|")
    for r in rows:
        print(f"| {r['workload']} | {r['codec']} | {r['ours_mib_s']:.0f} | "
              f"{r['peer_mib_s']:.0f} | {r['ratio']:.2f} |")


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # loaderx 2.0.7 can crash when the interpreter takes it down
