#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The loader beside loaderx's DataLoader on one container, in turns.

    loader_peers.py LOADER_VISION CONTAINER [ROUNDS [SECONDS]]

LOADER_VISION is the built tests/bench/loader_vision.c; run with a Python that
has loaderx. Prints JSON lines: medians of batches per second, the ratio, and
proportional set sizes. Each measurement is a process of its own.
"""
import json
import os
import statistics
import subprocess
import sys
import time


def pss_mib(pid):
    """Proportional set size: all of it, and what is no file."""
    found = {}
    try:
        with open(f"/proc/{pid}/smaps_rollup") as f:
            for line in f:
                word = line.split()
                if word[0] in ("Pss:", "Pss_Anon:"):
                    found[word[0]] = int(word[1]) / 1024
    except (OSError, ValueError):
        pass
    return found.get("Pss:", 0), found.get("Pss_Anon:", 0)


def loaderx(path, seconds, transform, step_ms):
    import numpy as np
    from loaderx.dataloader import DataLoader
    from loaderx.zrecord import Dense

    def normalise(batch):
        x = batch["x"].astype(np.float32)
        x *= np.float32(1 / 127.5)
        x -= 1
        return {"f": x}

    kw = {"transform": normalise} if transform else {}
    # mode 2 is cyclic: every record once per epoch, as our shuffle.
    loader = DataLoader({"x": Dense.open(path)}, transform_workers=2,
                        batch_size=256, mode=2, **kw)
    it = iter(loader)
    steps, start = 0, time.monotonic()
    while time.monotonic() - start < seconds:
        batch = next(it)
        steps += 1
        if step_ms:
            time.sleep(step_ms / 1000)
        del batch
    took = time.monotonic() - start
    print(json.dumps({"batches_per_s": steps / took}), flush=True)
    # Its threads may still run: the interpreter's end would crash them.
    os._exit(0)


def run(command):
    """Run, and take the peak of memory from outside."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True)
    peak = (0, 0)
    while child.poll() is None:
        peak = tuple(map(max, peak, pss_mib(child.pid)))
        time.sleep(0.05)
    result = json.loads(child.stdout.read().splitlines()[-1])
    return result["batches_per_s"], peak


def main():
    if sys.argv[1] == "--loaderx":
        loaderx(sys.argv[2], float(sys.argv[3]), int(sys.argv[4]),
                int(sys.argv[5]))
        return
    ours, path = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    seconds = sys.argv[4] if len(sys.argv) > 4 else "3"
    # Speed is asked of a trainer that takes no time, memory of one that is
    # the slow side, as trainers should be: then all queues are full.
    for transform, step_ms in (("0", "0"), ("1", "0"), ("0", "200"),
                               ("1", "400")):
        a, b = [], []
        for _ in range(rounds if step_ms == "0" else 1):
            a.append(run([ours, path, seconds, "2", "4", transform, step_ms]))
            b.append(run([sys.executable, __file__, "--loaderx", path,
                          seconds, transform, step_ms]))
        ra, rb = (statistics.median(x[0] for x in v) for v in (a, b))
        line = {"container": path, "transform": int(transform),
                "step_ms": int(step_ms), "zloader": round(ra, 1),
                "loaderx": round(rb, 1), "ratio": round(ra / rb, 2)}
        for i, name in enumerate(("pss", "pss_anon")):
            line["zloader_" + name] = round(max(x[1][i] for x in a))
            line["loaderx_" + name] = round(max(x[1][i] for x in b))
        print(json.dumps(line), flush=True)


main()
