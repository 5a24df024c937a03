#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Exchange random containers with loaderx, in both directions.

usage: exchange.py [--seed N] [--cases N] [--seconds N]

Needs ZRECORD (the program) in the environment, numpy and loaderx. Case k of
seed N is case 0 of seed N + k, so that one that fails can be run again alone.
"""
import argparse
import faulthandler
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
from loaderx.utils import train_dict
from loaderx.zrecord import Dense, Ragged

ZRECORD = os.environ["ZRECORD"]
RANK_MAX = 64 if int(np.__version__.split(".")[0]) >= 2 else 32
DTYPES = ("|b1 |i1 |u1 <i2 <u2 <i4 <u4 <i8 <u8 <f2 <f4 <f8 <f16 <c8 <c16 <c32 "
          ">i2 >u2 >i4 >u4 >i8 >u8 >f2 >f4 >f8 >c8 >c16 "
          "|S1 |S5 |S17 <U1 <U3 >U2 |V1 |V6 <M8[ns] <M8[25s] <M8[D] >M8[us] "
          "<m8[s] <m8[ms] <M8 <m8").split()
if np.dtype("longdouble").itemsize != 16:
    DTYPES = [d for d in DTYPES if d not in ("<f16", "<c32")]


class Wrong(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Wrong(what)


def zrecord(*args, **kw):
    p = subprocess.run([ZRECORD, *map(str, args)], capture_output=True,
                       timeout=60, stdin=subprocess.DEVNULL)
    need(p.returncode == 0, f"zrecord {args[0]} exits {p.returncode}: "
         + p.stderr.decode(errors="replace").strip())
    need(not p.stderr, f"zrecord {args[0]} says {p.stderr[:200]}")
    return p.stdout


def npy(array):
    f = io.BytesIO()
    np.save(f, array, allow_pickle=False)
    return f.getvalue()


def same(got, want):
    return (got.dtype.str == want.dtype.str and got.shape == want.shape and
            got.tobytes() == want.tobytes())


class Case:
    """What is exchanged: the records, and how."""

    def __init__(self, seed):
        self.rnd = rnd = random.Random(seed)
        self.rng = np.random.default_rng(seed)
        self.dense = rnd.random() < 0.5
        self.codec = rnd.choice(["raw", "zstd", "zstd_dict"])
        self.dtype = np.dtype(rnd.choice(DTYPES))
        self.count = rnd.choice([0, 1, 2, rnd.randrange(3, 100), 300, 1025])
        # Both sides refuse to train a dictionary on next to nothing.
        if self.codec == "zstd_dict":
            self.count = rnd.randrange(800, 1200)
        high = RANK_MAX - 1 if self.dense else RANK_MAX
        self.rank = rnd.choice([0, 1, 1, 2, 3, rnd.randrange(9),
                                rnd.randrange(high + 1), high])
        if self.dense:
            shape = self.shape()
            self.array = self.elements((self.count, *shape))
            # [i, ...]: a scalar of NumPy would forget its byte order.
            self.records = [self.array[i, ...] for i in range(self.count)]
        else:
            self.count = max(self.count, 1)
            self.records = [self.elements(self.shape())
                            for _ in range(self.count)]

    def shape(self):
        """At most 3 axes are longer than 1, so that a record stays small."""
        rank = self.rank if self.dense or self.rnd.random() < 0.7 else \
            self.rnd.randrange(self.rank + 1)
        shape = [1] * rank
        for axis in self.rnd.sample(range(rank), min(rank, 3)):
            shape[axis] = self.rnd.randrange(1, 7)
        # Enough in each record to learn a dictionary from.
        if self.codec == "zstd_dict":
            shape = [*shape[:-1], self.rnd.randrange(16, 24)]
        return tuple(shape)

    def elements(self, shape):
        """Random bytes are not random values: of a bool, of text, of padding
        inside a long double. So values, cast; few, so that they compress."""
        words = self.rng.integers(0, 2 if self.dtype.kind == "b" else 50,
                                  shape)
        if self.dtype.kind == "V":
            return np.frombuffer(
                np.asarray(words).astype(f"|S{self.dtype.itemsize}")
                .tobytes(), self.dtype).reshape(shape)
        if self.dtype.kind in "mM":
            return np.asarray(words, self.dtype.str[0] + "i8").view(self.dtype)
        return np.asarray(words).astype(self.dtype)

    def __str__(self):
        shape = self.array.shape[1:] if self.dense else f"rank <= {self.rank}"
        return (f"{'dense' if self.dense else 'ragged'} {self.dtype.str} "
                f"{shape if len(str(shape)) < 40 else f'rank {self.rank}'} "
                f"{self.codec}, {self.count} records")

    def some_ids(self):
        return self.rnd.choices(range(self.count), k=min(self.count, 4))


def ours_to_loaderx(case, folder):
    source, made = folder + "/source", folder + "/made.zr"
    options = ["--codec", case.codec]
    if case.dense:
        source += ".npy"
        np.save(source, case.array)
    else:
        options.append("--ragged")
        os.mkdir(source)
        for i, record in enumerate(case.records):
            np.save(f"{source}/{i:06}.npy", record)
    zrecord("create", "-q", *options, made, source)
    zrecord("verify", made)
    with (Dense if case.dense else Ragged).open(made) as got:
        need(len(got) == case.count, f"{len(got)} records")
        need(got.codec == case.codec and got.dtype.str == case.dtype.str,
             f"{got.codec} {got.dtype.str}")
        if case.dense:
            need(got.item_shape == case.array.shape[1:], got.item_shape)
        # Not all at once: a batch has one dimension more than a record.
        ids = list(range(case.count))
        case.rnd.shuffle(ids)
        if case.dense:
            need(same(got[ids], case.array[ids]), "the batch is another")
            return
        for id, record in zip(ids, got[ids]):
            need(same(record, case.records[id]), f"record {id} is another")


def loaderx_to_ours(case, folder):
    made, out = folder + "/made.zr", folder + "/out"
    extra = {"codec": case.codec}
    if case.codec == "zstd_dict":
        extra["dict_bytes"] = train_dict(case.records, "fast")
    if case.dense:
        with Dense.create(made, case.dtype, case.array.shape[1:],
                          **extra) as c:
            cut = case.rnd.randrange(case.count + 1)
            for part in (case.array[:cut], case.array[cut:]):
                if len(part):
                    c.append(part)
    else:
        with Ragged.create(made, case.dtype, **extra) as c:
            c.append(case.records)
    info = json.loads(zrecord("info", "--json", made))
    want = {"kind": "dense" if case.dense else "ragged",
            "codec": case.codec, "dtype": case.dtype.str,
            "records": case.count}
    if case.dense:
        want["item_shape"] = list(case.array.shape[1:])
    need({k: info.get(k) for k in want} == want, f"info says {info}")
    zrecord("verify", made)
    for id in case.some_ids():
        need(zrecord("cat", "--as", "npy", made, id) ==
             npy(case.records[id]), f"cat of record {id}")
    zrecord("export", "-q", "--as", "dir", made, out)
    files = sorted(os.listdir(out))
    need(len(files) == case.count, f"{len(files)} files")
    for id, name in enumerate(files):
        with open(f"{out}/{name}", "rb") as f:
            need(f.read() == npy(case.records[id]), f"file {name}")
    if case.dense:
        zrecord("export", "-q", "--as", "npy", made, out + ".npy")
        with open(out + ".npy", "rb") as f:
            need(f.read() == npy(case.array), "the array of all records")


def loaderx_can_append(case):
    """It packs small Ragged records through memoryview.cast, which knows
    only the native C types."""
    if case.dense:
        return True
    try:
        memoryview(np.zeros(1, case.dtype)).cast("B")
        return True
    except (TypeError, ValueError):
        return False


DIRECTIONS = (("loaderx reads ours", ours_to_loaderx),
              ("we read loaderx's", loaderx_to_ours))


def run_case(seed):
    """0 if all of case `seed` is right, else 1."""
    case = Case(seed)
    failed = 0
    for what, run in DIRECTIONS:
        if run is loaderx_to_ours and not loaderx_can_append(case):
            continue
        folder = tempfile.mkdtemp(prefix="case")
        try:
            run(case, folder)
            print(f"ok - {case}: {what}")
        except Exception as e:
            failed = 1
            print(f"not ok - {case}: {what}\n{type(e).__name__}: {e}\n"
                  f"again: exchange.py --seed {seed} --cases 1")
        shutil.rmtree(folder)
    return failed


def in_child(seed):
    """run_case in a process of its own. loaderx, which runs in it, crashes now
    and then by itself; with a container that it cannot read it does so each
    time."""
    for attempt in range(3):
        pid = os.fork()
        if not pid:
            # Its threads may crash the interpreter at its end.
            rc = run_case(seed)
            sys.stdout.flush()
            os._exit(rc)
        status = os.waitpid(pid, 0)[1]
        if os.WIFEXITED(status):
            return os.WEXITSTATUS(status)
        print(f"case of seed {seed}, attempt {attempt}: signal "
              f"{os.WTERMSIG(status)} in the process of loaderx")
    print(f"not ok - seed {seed} crashes loaderx each time")
    return 1


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, default=random.randrange(10 ** 9))
    ap.add_argument("--cases", type=int, default=120)
    ap.add_argument("--seconds", type=float, default=45)
    args = ap.parse_args()
    print(f"seed {args.seed}", flush=True)
    failed = 0
    end = time.monotonic() + args.seconds
    faulthandler.enable()
    for seed in range(args.seed, args.seed + args.cases):
        if time.monotonic() > end:
            print(f"time is up after {seed - args.seed} of {args.cases}")
            break
        failed |= in_child(seed)
        sys.stdout.flush()
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
