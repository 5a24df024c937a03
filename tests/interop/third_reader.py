#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A second reader of Zrecord containers, written from docs/FORMAT.md alone.

It shares no code with libzrecord or loaderx: Python's standard library, and
libzstd through ctypes. "F" and a number name a section of FORMAT.md.

    third_reader.py CONTAINER                   one line per record
    third_reader.py --golden DIR --bad DIR      check the test data
"""
import ctypes
import errno
import fcntl
import hashlib
import json
import os
import re
import struct
import sys
from math import prod

ZSTD = ctypes.CDLL("libzstd.so.1")
PTR, SIZE = ctypes.c_void_p, ctypes.c_size_t
ZSTD.ZSTD_createDCtx.restype = ZSTD.ZSTD_createDDict.restype = PTR
ZSTD.ZSTD_findFrameCompressedSize.restype = SIZE
ZSTD.ZSTD_decompress_usingDDict.restype = SIZE
CONTEXT = PTR(ZSTD.ZSTD_createDCtx())


class ContainerError(Exception):
    """Nothing is served (F1)."""


class Unpublished(ContainerError):
    """Its writer ended without publishing (F8)."""


class RecordError(Exception):
    """This record is not served (F1)."""


def need(condition, what, error=ContainerError):
    if not condition:
        raise error(what)


DTYPE = re.compile(
    r"[<>|](?P<plain>b1|[iu]1|[SV][1-9][0-9]{0,9})|"
    r"[<>](?:[iu][248]|f(?:2|4|8|16)|c(?:8|16|32)|U[1-9][0-9]{0,9}|[mM]8(?:"
    r"\[generic\]|\[(?P<count>[1-9][0-9]{0,9})?(?:[YMWDhms]|[munpfa]s)\])?)")


def parse_dtype(raw):
    """Return the canonical text and the item size (F3)."""
    text = raw.decode("latin-1")
    m = DTYPE.fullmatch(text)
    need(m, "not a dtype")
    size = int(re.match("[0-9]+", text[2:])[0]) * (4 if text[1] == "U" else 1)
    need(size < 2**31 and int(m["count"] or 1) < 2**31, "dtype is too large")
    text = re.sub(r"\[generic\]|(?<=\[)1(?=[A-Za-z])", "", text)
    return "|" + m["plain"] if m["plain"] else text, size


class Schema:
    """The MsgPack map of F3."""

    def __init__(self, raw):
        self.raw, self.at, self.dtype, self.item_shape = raw, 0, None, None
        for _ in range(self.head(0x80, 15, (0xde, 0xdf), (2, 4))):
            key = self.text()
            if key == b"dtype" and not self.dtype:
                self.dtype, self.itemsize = parse_dtype(self.text())
            else:
                need(key == b"item_shape" and self.item_shape is None, "a key")
                rank = self.head(0x90, 15, (0xdc, 0xdd), (2, 4))
                need(rank < 64, "item_shape has 64 or more dimensions")
                self.item_shape = tuple(self.dimension() for _ in range(rank))
        need(self.dtype and self.at == len(raw), "not one whole schema")
        self.width = None if self.item_shape is None else \
            prod(self.item_shape) * self.itemsize
        need(self.width is None or 1 <= self.width <= 2**31, "record width")

    def take(self, n):
        need(n <= len(self.raw) - self.at, "schema ends early")
        self.at += n
        return self.raw[self.at - n:self.at]

    def head(self, fix, mask, tags, sizes):
        """The count of a map or array, the length of a string."""
        tag = self.take(1)[0]
        if tag & ~mask == fix:
            return tag & mask
        need(tag in tags, "schema: another MsgPack type was expected")
        return int.from_bytes(self.take(sizes[tags.index(tag)]), "big")

    def text(self):
        return self.take(self.head(0xa0, 31, (0xd9, 0xda, 0xdb), (1, 2, 4)))

    def dimension(self):
        tag = self.take(1)[0]
        if tag <= 0x7f:
            return tag
        need(0xcc <= tag <= 0xd3, "dimension is not an integer >= 0")
        value = self.take(1 << (tag & 3))
        need(tag < 0xd0 or value[0] < 0x80, "negative dimension")
        return int.from_bytes(value, "big")


class Container:
    def __init__(self, path):
        """Open, with all checks of F7 that concern the container."""
        self.ddict = None
        self.meta, meta_size = self.open(path, "meta.zr")
        try:
            fcntl.flock(self.meta, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as e:  # else the file system has no locks (F8)
            need(e.errno != errno.EWOULDBLOCK, "busy: a writer holds it")
        head = self.meta.read(4096)
        need(len(head) == 4096, "meta.zr has no whole header")
        self.length, self.tail, slen, zero, self.codec = struct.unpack(
            "<QQI11sB", head[:32])
        need(4096 + 16 * self.length <= meta_size, "the table is cut")
        need(1 <= slen <= 4064 and not any(zero) and self.codec <= 2, "header")
        self.schema = Schema(head[32:32 + slen])
        self.data, data_size = self.open(path, "data.zr")
        need(self.tail <= data_size, "data.zr is cut")
        if self.codec == 2:
            file, size = self.open(path, "dict.zr")
            need(1 <= size <= 2**31, "dict.zr is empty or too large")
            self.ddict = ZSTD.ZSTD_createDDict(file.read(), SIZE(size))
            need(self.ddict, "dict.zr is not a dictionary")
        else:
            need(not os.path.lexists(os.path.join(path, "dict.zr")),
                 "dict.zr, which the codec does not use")
        need(self.length or self.tail or (meta_size == 4096 and not data_size),
             "never published", Unpublished)

    def open(self, path, name):
        path = os.path.join(path, name)
        need(os.path.isfile(path), "no regular file " + name)
        return open(path, "rb"), os.path.getsize(path)

    def entry(self, i):
        self.meta.seek(4096 + 16 * i)
        return struct.unpack("<QII", self.meta.read(16))

    def decoded(self, i):
        """The bytes of record i (F4)."""
        offset, phys, logic = self.entry(i)
        need(phys >= 1 and offset + phys <= self.tail and
             1 <= logic <= 2**31 and logic == (self.schema.width or logic) and
             (self.codec or logic == phys) and
             logic <= (phys // 4 + 1) * 131072, "bad table entry", RecordError)
        self.data.seek(offset)
        stored = self.data.read(phys)
        need(len(stored) == phys, "data.zr was cut", RecordError)
        if self.codec == 0:
            return stored
        need(stored[:4] == b"\x28\xb5\x2f\xfd", "not a frame", RecordError)
        need(ZSTD.ZSTD_findFrameCompressedSize(stored, SIZE(phys)) == phys,
             "not exactly one frame", RecordError)
        out = ctypes.create_string_buffer(logic)
        n = ZSTD.ZSTD_decompress_usingDDict(
            CONTEXT, out, SIZE(logic), stored, SIZE(phys), PTR(self.ddict))
        need(n == logic, "the frame does not decode", RecordError)
        return out.raw

    def record(self, i):
        """Shape and elements of record i (F5)."""
        raw, shape = self.decoded(i), self.schema.item_shape
        if shape is not None:
            return shape, raw
        rank, begin = raw[0], 1 + 8 * raw[0]
        need(rank <= 64 and begin < len(raw), "bad rank", RecordError)
        shape = struct.unpack_from("<%dQ" % rank, raw, 1)
        need(prod(shape) * self.schema.itemsize == len(raw) - begin,
             "the shape does not fit", RecordError)
        return shape, raw[begin:]

    def npy(self, i):
        """Shape of record i, and the record as a .npy file (F5)."""
        shape, elements = self.record(i)
        text = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (
            self.schema.dtype, shape)
        if shape:
            text += " " * (21 - len(str(shape[0])))
        text += " " * (64 - (10 + len(text) + 1) % 64) + "\n"
        return shape, (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) +
                       text.encode() + elements)


def read_all(c):
    """Yield id, shape and hash of each record, or id, None and its error."""
    for i in range(c.length):
        try:
            shape, npy = c.npy(i)
            yield i, list(shape), hashlib.sha256(npy).hexdigest()
        except RecordError as e:
            yield i, None, "error: %s" % e


def check(path, want, opens, bad):
    """Yield (passed, what) for each thing that is known of a container."""
    try:
        c, opened = Container(path), "ok"
    except ContainerError as e:
        opened = "unpublished" if isinstance(e, Unpublished) else "error"
    yield opened == opens, "FAILED %s: opens: %s" % (path, opened)
    if (opens, opened) != ("ok", "ok"):
        return
    yield c.length == want["count"], "FAILED %s: length" % path
    # Equal entries are one record (ok_shared_location).
    first = {c.entry(i): i for i in reversed(range(c.length))}
    for i, shape, sha in read_all(c):
        known = want["records"][first[c.entry(i)]]
        good = (shape, sha) == (known["shape"], known["npy_sha256"])
        yield (shape is None if i in bad else good,
               "FAILED %s: record %d" % (path, i))


def check_all(golden, bad):
    manifest = json.load(open(golden + "/manifest.json"))["containers"]
    for name, want in manifest.items():
        yield from check(golden + "/" + name, want, "ok", [])
    for name, e in json.load(open(bad + "/expect.json")).items():
        yield from check(bad + "/" + name, manifest[e["base"]], e["open"],
                         e["bad_records"])


def main(args):
    if len(args) == 4 and args[::2] == ["--golden", "--bad"]:
        done = list(check_all(args[1], args[3]))
        failed = [what for good, what in done if not good]
        print(*failed, "%d passed, %d failed" % (
            len(done) - len(failed), len(failed)), sep="\n")
        return bool(failed)
    if len(args) != 1:
        return __doc__
    failed = False
    try:
        for line in read_all(Container(args[0])):
            print(*line)
            failed |= line[1] is None
    except ContainerError as e:
        return "%s: %s" % (args[0], e)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
