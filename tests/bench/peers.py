# SPDX-License-Identifier: BSD-2-Clause
"""Other ways to keep the same records, each read as its Python users read it.

A peer writes the records into a folder and then makes batches of given ids: for
Dense one array (len(ids), *shape), for Ragged the elements of all, one after the
other. libzrecord takes part through its C functions, on 1 thread and on all
CPUs, and also gives the shapes of Ragged records, which the others leave out.
What a peer hands out in memory of its own stays there; what comes record by
record is copied into a batch that is used again, as libzrecord's is.
"""
import ctypes
import glob
import importlib
import os
import statistics
import time

import numpy as np

SECONDS = 0.2


class Ours:
    """libzrecord, C"""
    threads = 1

    class Ragged(ctypes.Structure):
        _fields_ = [("count", ctypes.c_size_t)] + [
            (n, ctypes.c_void_p) for n in ("values", "offsets", "dims",
                                           "dim_offsets")] + [
            (n, ctypes.c_size_t) for n in ("values_size", "dims_size",
                                           "count_size")] + [
            ("block", ctypes.c_void_p), ("block_size", ctypes.c_size_t)]

    def __init__(self, lib, container, data, batch):
        z = self.z = ctypes.CDLL(lib)
        self.c, self.ex, self.r = (ctypes.c_void_p() for _ in range(3))
        if z.zr_open(ctypes.byref(self.c), os.fsencode(container), None,
                     None) or \
           z.zr_executor_new(ctypes.byref(self.ex), self.threads) or \
           z.zr_reader_new(ctypes.byref(self.r), self.c, self.ex):
            raise OSError(f"cannot open {container}")
        self.dense = isinstance(data, np.ndarray)
        self.ragged = self.Ragged()
        if self.dense:
            self.out = np.empty((batch, *data.shape[1:]), data.dtype)

    def batch(self, ids):
        at = ids.ctypes.data_as(ctypes.c_void_p)
        n = ctypes.c_size_t(len(ids))
        if self.dense:
            rc = self.z.zr_gather_dense(
                self.r, at, n, self.out.ctypes.data_as(ctypes.c_void_p),
                ctypes.c_size_t(self.out.nbytes), None)
            if rc:
                raise OSError("zr_gather_dense")
            return self.out
        if self.z.zr_gather_ragged(self.r, at, n, ctypes.byref(self.ragged),
                                   None):
            raise OSError("zr_gather_ragged")
        return self

    def close(self):
        self.z.zr_ragged_free(ctypes.byref(self.ragged))
        self.z.zr_reader_free(self.r)
        self.z.zr_executor_free(self.ex)
        self.z.zr_close(self.c)

    def elements(self, dtype):
        end = ctypes.cast(self.ragged.offsets, ctypes.POINTER(
            ctypes.c_uint64))[self.ragged.count]
        return np.frombuffer(ctypes.string_at(self.ragged.values, end), dtype)


class OursAll(Ours):
    """libzrecord, C, all CPUs"""
    threads = os.cpu_count()


class Peer:
    """Has the buffer of a batch; joins what comes record by record."""

    def __init__(self, folder, data, batch):
        self.dense = isinstance(data, np.ndarray)
        self.dtype = data[0].dtype
        if self.dense:
            self.shape = data.shape[1:]
            self.out = np.empty((batch, *self.shape), self.dtype)
        self.open(folder, data)

    def from_bytes(self, records):
        if not self.dense:
            return np.frombuffer(b"".join(records), self.dtype)
        for row, record in zip(self.out, records):
            row[...] = np.frombuffer(record, self.dtype).reshape(self.shape)
        return self.out


class Loaderx(Peer):
    """loaderx: container[ids] | loaderx: container[ids], joined"""
    needs = "loaderx"
    codecs = ("raw", "zstd", "zstd_dict")

    def open(self, folder, data):
        from loaderx import zrecord
        kind = zrecord.Dense if self.dense else zrecord.Ragged
        self.c = kind.open(self.container)

    def batch(self, ids):
        got = self.c[ids]
        return got if self.dense else np.concatenate(
            [x.reshape(-1) for x in got])


class Npy(Peer):
    """.npy, mapped: np.take(..., out) | .npy of all elements, mapped: slices"""
    codecs = ("raw",)

    def open(self, folder, data):
        if self.dense:
            np.save(folder + "/a.npy", data)
        else:
            np.save(folder + "/a.npy", np.concatenate(
                [x.reshape(-1) for x in data]))
            self.at = np.cumsum([0] + [x.size for x in data]).tolist()
        self.a = np.load(folder + "/a.npy", mmap_mode="r")

    def batch(self, ids):
        if self.dense:
            # Other modes than raise write to `out` itself.
            return np.take(self.a, ids, axis=0, out=self.out, mode="clip")
        return np.concatenate([self.a[self.at[i]:self.at[i + 1]]
                               for i in ids.tolist()])


class NpyIndex(Npy):
    """.npy, mapped: array[ids]"""
    kinds = ("dense",)

    def batch(self, ids):
        return self.a[ids]


class Lmdb(Peer):
    """LMDB: txn.get(key) of each, buffers=True"""
    needs = "lmdb"
    codecs = ("raw",)

    def open(self, folder, data):
        import lmdb
        size = 2 * sum(x.nbytes + 4096 for x in data) + (1 << 24)
        with lmdb.open(folder, map_size=size, sync=False) as env:
            with env.begin(write=True) as txn:
                for i, x in enumerate(data):
                    txn.put(b"%08d" % i, x.tobytes(), append=True)
        self.env = lmdb.open(folder, readonly=True, lock=False,
                             readahead=False)

    def batch(self, ids):
        with self.env.begin(buffers=True) as txn:
            return self.from_bytes([txn.get(b"%08d" % i)
                                    for i in ids.tolist()])


class Hdf5(Peer):
    """HDF5: read_direct of each | HDF5: variable-length rows, each"""
    needs = "h5py"
    codecs = ("raw",)

    def open(self, folder, data):
        import h5py
        with h5py.File(folder + "/a.h5", "w") as f:
            if self.dense:
                f.create_dataset("a", data=data, **self.layout(data))
            else:
                d = f.create_dataset("a", (len(data),),
                                     h5py.vlen_dtype(self.dtype))
                for i in range(0, len(data), 1024):
                    rows = np.empty(len(data[i:i + 1024]), object)
                    for k, x in enumerate(data[i:i + 1024]):
                        rows[k] = x.reshape(-1)
                    d[i:i + 1024] = rows
        self.d = h5py.File(folder + "/a.h5", "r")["a"]

    def layout(self, data):
        return {}

    def batch(self, ids):
        if not self.dense:
            return np.concatenate([self.d[i] for i in ids.tolist()])
        for k, i in enumerate(ids.tolist()):
            self.d.read_direct(self.out, np.s_[i], np.s_[k])
        return self.out


class Hdf5Zstd(Hdf5):
    """HDF5, chunks of a record by hdf5plugin.Zstd: read_direct of each"""
    needs = "hdf5plugin"
    kinds = ("dense",)
    codecs = ("zstd",)

    def layout(self, data):
        import hdf5plugin
        return {"chunks": (1, *data.shape[1:]),
                "compression": hdf5plugin.Zstd(clevel=3)}


class Arrow(Peer):
    """Arrow IPC file, mapped: column.take(ids)"""
    needs = "pyarrow"
    codecs = ("raw",)

    def open(self, folder, data):
        import pyarrow as pa
        self.pa = pa
        flat = data.reshape(-1) if self.dense else np.concatenate(
            [x.reshape(-1) for x in data])
        if self.dense:
            col = pa.FixedSizeListArray.from_arrays(
                pa.array(flat), int(np.prod(self.shape)))
        else:
            col = pa.LargeListArray.from_arrays(
                pa.array(np.cumsum([0] + [x.size for x in data])),
                pa.array(flat))
        table = pa.table({"a": col})
        with pa.OSFile(folder + "/a.arrow", "wb") as f:
            with pa.ipc.new_file(f, table.schema) as w:
                w.write_table(table)
        f = pa.memory_map(folder + "/a.arrow")
        self.col = pa.ipc.open_file(f).read_all()["a"].chunk(0)

    def batch(self, ids):
        got = self.col.take(self.pa.array(ids)).flatten().to_numpy()
        return got.reshape(len(ids), *self.shape) if self.dense else got


class ArrayRecord(Peer):
    """ArrayRecord, a group a record: ArrayRecordDataSource.__getitems__"""
    needs = "array_record"
    codecs = ("raw",)
    options = "group_size:1,uncompressed"

    def open(self, folder, data):
        from array_record.python import array_record_data_source as source
        from array_record.python import array_record_module as module
        w = module.ArrayRecordWriter(folder + "/a.array_record", self.options)
        for x in data:
            w.write(x.tobytes())
        w.close()
        self.s = source.ArrayRecordDataSource([folder + "/a.array_record"])

    def batch(self, ids):
        return self.from_bytes(self.s.__getitems__(ids.tolist()))


class ArrayRecordZstd(ArrayRecord):
    """ArrayRecord, a group a record, zstd: __getitems__"""
    codecs = ("zstd",)
    options = "group_size:1,zstd:3"


PEERS = (Loaderx, Npy, NpyIndex, Lmdb, Hdf5, Hdf5Zstd, Arrow, ArrayRecord,
         ArrayRecordZstd)


def missing(logs):
    """{module: why} of what cannot be imported; pip's own words if it said
    any when it was to be installed."""
    out = {}
    for name in {p.needs for p in PEERS if hasattr(p, "needs")}:
        try:
            importlib.import_module(name)
        except Exception as e:  # whatever an extension module throws
            out[name] = f"{type(e).__name__}: {e}"
            for log in glob.glob(f"{logs}/pip-{name}.log"):
                with open(log) as f:
                    said = [x for x in f if x.startswith("ERROR")]
                if said:
                    out[name] = said[-1].strip()
    return out


def rate(peer, ids):
    """Records per second; the batches of `ids` from the first on."""
    done, start = 0, time.perf_counter()
    while True:
        peer.batch(ids[done % len(ids)])
        done += 1
        t = time.perf_counter() - start
        if t >= SECONDS:
            return done * ids.shape[1] / t


def check(peer, data, ids):
    """A benchmark of wrong records would be none."""
    got = peer.batch(ids)
    if isinstance(peer, Ours) and not peer.dense:
        got = peer.elements(data[0].dtype)
    want = data[ids] if isinstance(data, np.ndarray) else np.concatenate(
        [data[i].reshape(-1) for i in ids])
    if not np.array_equal(got, want):
        raise SystemExit(f"{type(peer).__name__}: wrong records")


def compare(data, codec, container, lib, folder, batch, rounds, absent):
    """A row each: medians of the rounds, in which all take turns."""
    kind = "dense" if isinstance(data, np.ndarray) else "ragged"
    peers = [Ours(lib, container, data, batch),
             OursAll(lib, container, data, batch)]
    for p in PEERS:
        if codec in p.codecs and kind in getattr(p, "kinds", (kind,)) and \
           getattr(p, "needs", None) not in absent:
            p.container = container
            os.mkdir(f"{folder}/{p.__name__}")
            peers.append(p(f"{folder}/{p.__name__}", data, batch))
    rng = np.random.default_rng(1)
    for p in peers:
        check(p, data, rng.integers(0, len(data), batch).astype("u8"))
    mean = sum(x.nbytes for x in data) / len(data)
    rates = [[] for _ in peers]
    for i in range(rounds + 1):  # the first warms all up
        ids = rng.integers(0, len(data), (1024, batch)).astype("u8")
        for p, r in zip(peers, rates):
            r.append(rate(p, ids))
    for p in peers[:2]:
        p.close()
    for p, r in zip(peers, rates):
        ratios = [x / y for x, y in zip(rates[0][1:], r[1:])]
        k = statistics.median(r[1:])
        # Dense | Ragged, where that differs.
        how = type(p).__doc__.split(" | ")[-1 if kind == "ragged" else 0]
        yield {"peer": how, "krec_s": round(k / 1e3, 1),
               "mib_s": round(k * mean / 2**20),
               "ours_1_thread_to_it": round(statistics.median(ratios), 2)}
