#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Batches as DLPack tensors in NumPy and, if it is there, PyTorch: no copy,
every dtype that DLPack has, and a ring slot that lives as long as the arrays.

Loads libzloader.so with ctypes, as a binding would. Prints a line for each
case; see tests/run.
"""
import ctypes as C
import errno
import gc
import os
import subprocess
import sys
import threading

import numpy as np

try:
    import torch
except ImportError:
    torch = None

BUILD = os.environ["BUILD"]
ENGINE = C.CDLL(BUILD + "/libzrecord.so", C.RTLD_GLOBAL)
LOADER = C.CDLL(BUILD + "/libzloader.so")
RECORDS, BATCH, RING = 1024, 256, 4  # the last two: as without options
DATA, IDS = 0, 4  # enum zl_part


class Dtype(C.Structure):
    _fields_ = [("str", C.c_char * 24), ("kind", C.c_char),
                ("order", C.c_char), ("itemsize", C.c_uint32)]


class Shape(C.Structure):
    _fields_ = [("rank", C.c_uint32), ("dims", C.c_uint64 * 64)]


class Array(C.Structure):
    _fields_ = [("name", C.c_char_p), ("kind", C.c_int), ("dtype", Dtype),
                ("shape", Shape), ("data", C.c_void_p), ("bytes", C.c_uint64),
                ("offsets", C.POINTER(C.c_uint64)),
                ("dims", C.POINTER(C.c_uint64)),
                ("dim_offsets", C.POINTER(C.c_uint64))]


class Batch(C.Structure):
    _fields_ = [("step", C.c_uint64), ("epoch", C.c_uint64),
                ("position", C.c_uint64), ("count", C.c_size_t),
                ("ids", C.POINTER(C.c_uint64)), ("arrays", C.c_size_t),
                ("array", C.POINTER(Array))]


class Stream(C.Structure):
    _fields_ = [("name", C.c_char_p), ("container", C.c_void_p)]


LOADER.zl_return.restype = None
ENGINE.zr_close.restype = None
new_capsule = C.pythonapi.PyCapsule_New
new_capsule.restype = C.py_object
new_capsule.argtypes = [C.c_void_p, C.c_char_p, C.c_void_p]


class Tensor:
    """What numpy.from_dlpack and torch.from_dlpack take."""

    def __init__(self, batch, part=DATA):
        self.batch, self.part = batch, part

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, stream=None):
        managed = C.c_void_p()
        rc = LOADER.zl_dlpack(self.batch, C.c_size_t(0), self.part,
                              C.byref(managed))
        if rc:
            raise BufferError(os.strerror(-rc))
        return new_capsule(managed, b"dltensor", None)


class Loader:
    def __init__(self, path):
        self.container, self.loader = C.c_void_p(), C.c_void_p()
        must(ENGINE.zr_open(C.byref(self.container), path.encode(), None, None))
        streams = (Stream * 1)(Stream(b"x", self.container))
        must(LOADER.zl_open(C.byref(self.loader), streams, C.c_size_t(1), None,
                            None))

    def next(self):
        batch = C.POINTER(Batch)()
        must(LOADER.zl_next(self.loader, C.byref(batch), None))
        return batch

    def close(self):
        LOADER.zl_close(C.byref(self.loader))

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.close()
        ENGINE.zr_close(self.container)


def must(rc):
    assert rc == 0, os.strerror(-rc)


def data_of(batch):
    return batch.contents.array[0].data


def container(name, array):
    np.save(name + ".npy", array)
    subprocess.run([os.environ["ZRECORD"], "create", name, name + ".npy"],
                   check=True)
    return os.path.abspath(name)


def values(dtype):
    some = np.arange(RECORDS * 6).reshape(RECORDS, 2, 3) % 251
    return (some % 2 == 0) if dtype == "?" else some.astype(dtype)


def from_numpy(tensor):
    a = np.from_dlpack(tensor)
    return a, a.ctypes.data


def from_torch(tensor):
    t = torch.from_dlpack(tensor)
    return t.numpy(), t.data_ptr()


def no_copy(load, dtype):
    want = values(dtype)
    with Loader(container("dt" + want.dtype.str[1:], want)) as l:
        for _ in range(6):
            batch = l.next()
            ids, ids_at = load(Tensor(batch, IDS))
            a, at = load(Tensor(batch))
            assert at == data_of(batch), "a copy"
            assert ids_at == C.addressof(batch.contents.ids.contents), "ids"
            assert a.dtype == want.dtype and a.shape == (BATCH, 2, 3), a.dtype
            assert np.array_equal(a, want[ids.astype("i8")]), "other elements"
            LOADER.zl_return(batch)
            del a, ids


def refused(dtype):
    with Loader(container("no" + dtype.strip("<>").replace("[", "_")[:2],
                          np.zeros((RECORDS, 2), dtype))) as l:
        batch, managed = l.next(), C.c_void_p()
        rc = LOADER.zl_dlpack(batch, C.c_size_t(0), DATA, C.byref(managed))
        assert rc == -errno.ENOTSUP and not managed, rc
        LOADER.zl_return(batch)


def slot_is_held(load):
    with Loader(container("held", values("<i4"))) as l:
        batch = l.next()
        a, at = load(Tensor(batch))
        LOADER.zl_return(batch)
        before, seen = a.copy(), set()
        for _ in range(3 * RING):
            batch = l.next()
            seen.add(data_of(batch))
            LOADER.zl_return(batch)
        assert at not in seen and np.array_equal(a, before), "slot was reused"
        del a
        gc.collect()
        for _ in range(3 * RING):
            batch = l.next()
            seen.add(data_of(batch))
            LOADER.zl_return(batch)
        assert at in seen, "slot was lost"


def waits_for_a_deleter(load):
    """All slots held by arrays alone: the next batch comes when one goes."""
    with Loader(container("wait", values("<f4"))) as l:
        arrays, got = [], []
        for _ in range(RING):
            batch = l.next()
            arrays.append(load(Tensor(batch))[0])
            LOADER.zl_return(batch)
        waiter = threading.Thread(target=lambda: got.append(l.next()))
        waiter.start()
        waiter.join(0.3)
        early = not waiter.is_alive()
        arrays.pop(1)
        gc.collect()
        waiter.join(30)
        assert not early and got, "early" if early else "never"
        LOADER.zl_return(got[0])
        del arrays
        gc.collect()


def outlives_the_loader(load):
    want = values("<u2" if load is from_numpy else "<i2")
    with Loader(container("outlive", want)) as l:
        batch = l.next()
        ids = np.array(batch.contents.ids[:BATCH])
        a, _ = load(Tensor(batch))
        LOADER.zl_return(batch)
        l.close()
        assert np.array_equal(a, want[ids]), "elements went with the loader"
        del a
        gc.collect()


failed = 0


def case(name, fn, *args):
    global failed
    home = os.getcwd()
    work = "".join(c if c.isalnum() else "_" for c in name)
    os.mkdir(work)
    os.chdir(work)
    try:
        fn(*args)
        print("ok -", name, flush=True)
    except Exception as e:  # a failure of this case alone
        failed += 1
        print(f"not ok - {name}\n{type(e).__name__}: {e}", flush=True)
    os.chdir(home)


def consumer(name, load, dtypes):
    for d in dtypes:
        case(f"{name} {d}", no_copy, load, d)
    case(f"{name} holds the slot", slot_is_held, load)
    case(f"{name} gives the slot back", waits_for_a_deleter, load)
    case(f"{name} outlives the loader", outlives_the_loader, load)


signed = ["|u1", "|i1", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8", "<c8", "<c16"]
# NumPy takes booleans since 1.25.
bools = ["?"] if np.lib.NumpyVersion(np.__version__) >= "1.25.0" else []
consumer("numpy", from_numpy, signed + ["<u2", "<u4", "<u8"] + bools)
if torch:
    # Unsigned ids need a PyTorch that has uint64.
    consumer("torch", from_torch, signed + ["?"])
else:
    print("ok - torch # SKIP there is no PyTorch here")
for refusal in (">i4", "<M8[s]", "|S4", "<U2"):
    case(f"refuses {refusal}", refused, refusal)
sys.exit(failed != 0)
