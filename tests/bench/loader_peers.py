#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The loader beside loaderx's DataLoader, PyTorch's and Grain on the same images.

    loader_peers.py --loader PROGRAM --zrecord PROGRAM [--records N]
                    [--rounds N] [--seconds S] [--raw DIR] [--zstd DIR]

PROGRAM of --loader is the built tests/bench/loader_vision.c. Batches of 256
uint8 images (3, 224, 224), shuffled, 2 workers; raw and zstd containers, made
here or given, and for PyTorch and Grain, which read none, one mapped .npy of
the same records. Every measurement is a process of its own, the contenders
take turns, and the figures are medians. Memory is proportional set size (PSS)
with all children, at its peak: all of it, and what is no file. Rows: batches
to a trainer that takes no time; the same with a transform to normalised
float32; and both with a trainer that is the slow side, when all queues are
full, which is when memory counts. Prints JSON lines and a table.
"""
import argparse
import glob
import importlib.util
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BATCH, WORKERS = 256, 2
# Name, and the module without which it cannot run.
PEERS = {"loaderx": "loaderx", "torch": "torch", "grain": "grain"}
# Transform, milliseconds of a training step.
ROWS = ((0, 0), (1, 0), (0, 200), (1, 400))


# ---- The peers, each in a process of its own -------------------------------

def normalise(x):
    import numpy as np
    x = x.astype(np.float32)
    x *= np.float32(1 / 127.5)
    x -= 1
    return x


class Images:
    """Records of a mapped .npy, for PyTorch and Grain."""

    def __init__(self, path, transform=False):
        self.path, self.transform, self.array = path, transform, None

    def open(self):
        import numpy as np
        if self.array is None:
            self.array = np.load(self.path, mmap_mode="c")
        return self.array

    def __len__(self):
        return len(self.open())

    def __getitem__(self, i):
        x = self.open()[i]
        return normalise(x) if self.transform else x

    def __getstate__(self):  # for worker processes
        return {"path": self.path, "transform": self.transform, "array": None}


def loaderx_batches(path, transform):
    from loaderx.dataloader import DataLoader
    from loaderx.zrecord import Dense
    kw = {}
    if transform:
        kw["transform"] = lambda batch: {"f": normalise(batch["x"])}
    # mode 2 is cyclic: every record once per epoch, as our shuffle.
    loader = DataLoader({"x": Dense.open(path)}, transform_workers=WORKERS,
                        batch_size=BATCH, mode=2, **kw)
    yield from loader


def torch_batches(path, transform):
    import torch
    loader = torch.utils.data.DataLoader(
        Images(path, transform), batch_size=BATCH, shuffle=True,
        num_workers=WORKERS, drop_last=True, persistent_workers=True)
    while True:
        yield from loader


def grain_batches(path, transform):
    import grain
    records = grain.MapDataset.source(Images(path, transform))
    batches = records.shuffle(seed=1).repeat().batch(BATCH, drop_remainder=True)
    yield from batches.to_iter_dataset().mp_prefetch(
        grain.MultiprocessingOptions(num_workers=WORKERS))


def run_peer(name, path, transform, step_ms, seconds):
    """Print batches per second; the first batch starts the clock."""
    it = iter(globals()[name + "_batches"](path, transform))
    batch = next(it)
    steps, start = 0, time.monotonic()
    while time.monotonic() - start < seconds:
        batch = next(it)
        steps += 1
        if step_ms:
            time.sleep(step_ms / 1000)
    took = time.monotonic() - start
    del batch
    print(json.dumps({"batches_per_s": steps / took}), flush=True)
    # Threads may still run: the interpreter's end would crash some.
    kill(tree(os.getpid())[1:])
    os._exit(0)


# ---- Measuring from outside -------------------------------------------------

def tree(pid):
    """The process and all below it; any thread may have started one."""
    found = [pid]
    for p in found:
        for task in glob.glob(f"/proc/{p}/task/*/children"):
            try:
                with open(task) as f:
                    found += map(int, f.read().split())
            except OSError:
                pass
    return found


def pss(pids):
    """MiB: all, and what is no file or is shared memory."""
    total = {"Pss:": 0, "Pss_Anon:": 0, "Pss_Shmem:": 0}
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup") as f:
                for line in f:
                    word = line.split()
                    if word[0] in total:
                        total[word[0]] += int(word[1]) / 1024
        except (OSError, ValueError):
            pass
    return total["Pss:"], total["Pss_Anon:"] + total["Pss_Shmem:"]


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def measure(command, limit):
    """Batches per second and the peaks of memory, or None: it failed, or its
    first batch did not come in time."""
    peak, end = (0, 0), time.monotonic() + limit
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL,
                                 stdin=subprocess.DEVNULL)
        while child.poll() is None:
            pids = tree(child.pid)
            peak = tuple(map(max, peak, pss(pids)))
            if time.monotonic() > end:
                kill(pids)
            time.sleep(0.1)
        out.seek(0)
        lines = [line for line in out if line.startswith("{")]
    if child.returncode or not lines:
        return None
    return (json.loads(lines[-1])["batches_per_s"],) + peak


def contenders(a, codec, paths, transform, step_ms):
    """Name to command: ours with mapped and with read data, and the peers."""
    row = [str(transform), str(step_ms)]
    ours = [a.loader, paths[codec], str(a.seconds), str(WORKERS), "4"] + row
    yield "zloader", ours + ["1"]
    yield "zloader, read", ours + ["3"]
    for name, module in PEERS.items():
        if importlib.util.find_spec(module):
            path = paths[codec if name == "loaderx" else "npy"]
            if name == "loaderx" or codec == "raw":
                yield name, [sys.executable, __file__, "--as", name, path,
                             str(a.seconds)] + row


def make_data(a, work):
    import numpy as np
    rng = np.random.default_rng(1)
    y, x = np.mgrid[0:224, 0:224]

    def image():
        planes = [127 + 60 * np.sin(x * rng.uniform(.01, .08) + i) +
                  60 * np.cos(y * rng.uniform(.01, .08)) for i in range(3)]
        return (np.stack(planes) + rng.integers(0, 3, (3, 224, 224))) \
            .clip(0, 255).astype("u1")

    paths = {"raw": a.raw or work + "/raw", "zstd": a.zstd or work + "/zstd",
             "npy": work + "/images.npy"}
    if a.raw:
        subprocess.run([a.zrecord, "export", "--as", "npy", a.raw,
                        paths["npy"]], check=True)
    else:
        base = [image() for _ in range(50)]
        np.save(paths["npy"], np.stack([np.roll(base[i % 50], 7 * i, axis=2)
                                        for i in range(a.records)]))
        subprocess.run([a.zrecord, "create", paths["raw"], paths["npy"]],
                       check=True)
    if not a.zstd:
        subprocess.run([a.zrecord, "recode", "--codec", "zstd", paths["raw"],
                        paths["zstd"]], check=True)
    return paths


def compare(a, codec, paths, transform, step_ms):
    commands = dict(contenders(a, codec, paths, transform, step_ms))
    got = {name: [] for name in commands}
    for _ in range(1 if step_ms else a.rounds):
        for name, command in commands.items():
            got[name].append(measure(command, 60 + a.seconds))
    for name, results in got.items():
        results = [r for r in results if r]
        line = {"codec": codec, "transform": transform, "step_ms": step_ms,
                "loader": name}
        if results:
            line["batches_per_s"] = round(
                statistics.median(r[0] for r in results), 1)
            line["pss_mib"] = round(max(r[1] for r in results))
            line["anon_mib"] = round(max(r[2] for r in results))
        else:
            line["failed"] = True
        print(json.dumps(line), flush=True)
        yield line


def main():
    if sys.argv[1:2] == ["--as"]:
        name, path, seconds, transform, step_ms = sys.argv[2:]
        run_peer(name, path, int(transform), int(step_ms), float(seconds))
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("--loader", required=True)
    ap.add_argument("--zrecord", required=True)
    ap.add_argument("--records", type=int, default=1050)
    ap.add_argument("--rounds", type=int, default=5)
    ap.add_argument("--seconds", type=float, default=3)
    ap.add_argument("--raw")
    ap.add_argument("--zstd")
    a = ap.parse_args()
    print(f"# {platform.platform()}, {os.cpu_count()} CPUs, load "
          f"{os.getloadavg()[0]:.1f}", flush=True)
    for name, module in PEERS.items():
        if not importlib.util.find_spec(module):
            print(f"# {name}: not installed here, not measured", flush=True)
    work = tempfile.mkdtemp(prefix="zrbench.")
    try:
        paths = make_data(a, work)
        lines = [line for codec in ("raw", "zstd") for row in ROWS
                 for line in compare(a, codec, paths, *row)]
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print("\n| codec | transform | step ms | loader | batches/s | PSS MiB | "
          "not file |\n|---|---|---|---|---|---|---|")
    for r in lines:
        print(f"| {r['codec']} | {'float32' if r['transform'] else 'none'} | "
              f"{r['step_ms']} | {r['loader']} | {r.get('batches_per_s', '-')} "
              f"| {r.get('pss_mib', '-')} | {r.get('anon_mib', '-')} |")


if __name__ == "__main__":
    main()
