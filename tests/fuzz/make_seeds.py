#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Write the seeds of the fuzz targets from tests/data into tests/fuzz/corpus.

Only files called seed-* are replaced: inputs that once found something stay.
Containers are packed as pack.h says, large ones with their first records.
"""
import glob
import json
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(HERE), "data")
DICT, CHECK, CUT, SEAL = 1, 2, 4, 8
MOST_DATA = 1500    # bytes of data.zr
OPEN_CHECK = 4      # zr_open: a flag
READ = 3 << 4       # and a placement


def put(target, name, data):
    folder = os.path.join(HERE, "corpus", target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "seed-" + name), "wb") as f:
        f.write(data)


def load(folder, name):
    path = os.path.join(folder, name)
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as f:
        return f.read()


def pack(flags, how, head, table, dict_, check, data):
    sizes = struct.pack("<4H", *map(len, (head, table, dict_, check)))
    return bytes([flags, how]) + sizes + head + table + dict_ + check + data


def shorten(head, table, data):
    """Only the first records, if the data are long."""
    if len(data) <= MOST_DATA and len(table) <= 1600:
        return head, table, data
    count = end = 0
    for at in range(0, min(len(table), 1600) - 15, 16):
        offset, stored = struct.unpack_from("<QI", table, at)
        if max(end, offset + stored) > MOST_DATA:
            break
        end = max(end, offset + stored)
        count += 1
    return (struct.pack("<QQ", count, end) + head[16:], table[:16 * count],
            data[:end])


def container(folder, how):
    """A folder as one input, or None."""
    meta, data = load(folder, "meta.zr"), load(folder, "data.zr")
    dict_ = load(folder, "dict.zr")
    if meta is None or data is None:
        return None
    flags = DICT if dict_ is not None else 0
    if len(meta) < 4096:
        return pack(flags | CUT, how, meta.rstrip(b"\0") or b"\0", b"",
                    dict_ or b"", b"", data[:MOST_DATA])
    head, table, data = shorten(meta[:4096], meta[4096:], data)
    return pack(flags, how, head.rstrip(b"\0"), table, dict_ or b"", b"",
                data)


def with_sidecar(folder, how, facts):
    """The same with a check.zr, whose hashes the target puts right."""
    meta, data = load(folder, "meta.zr"), load(folder, "data.zr")
    head, table, data = shorten(meta[:4096], meta[4096:], data)
    rows, dims = b"", b""
    for record in facts["records"][:len(table) // 16]:
        rows += bytes(8)
        if facts["kind"] == "ragged":
            shape = record["shape"]
            dims += struct.pack(f"<{len(shape)}Q", *shape)
            rows += struct.pack("<Q", len(dims) // 8)
    return pack(CHECK | SEAL, how, head.rstrip(b"\0"), table, b"",
                bytes(64) + rows + dims, data)


def containers():
    facts = json.loads(load(DATA, "golden/manifest.json"))["containers"]
    golden = sorted(glob.glob(DATA + "/golden/*/"))
    bad = sorted(glob.glob(DATA + "/bad/*/"))
    for i, folder in enumerate(golden + bad):
        name = os.path.basename(folder[:-1])
        one = container(folder, (i % 4) << 4)
        if not one:
            continue
        if name.startswith("dtype_ragged"):  # as dtype_dense
            continue
        put("fuzz_open", name, one)
        if folder in golden or name.startswith(("loc_", "zstd_", "ragged_",
                                                "dict_wrong", "ok_")):
            put("fuzz_record", name, one)
        if name in ("dense_f4_zstd", "ragged_ranks_i2_raw",
                    "ragged_ranks_i2_zstd"):
            put("fuzz_open", name + "_sidecar",
                with_sidecar(folder, READ, facts[name]))
            for how in (0, OPEN_CHECK):
                put("fuzz_record", f"{name}_sidecar{how}",
                    with_sidecar(folder, how, facts[name]))


DTYPES = """|b1 |i1 |u1 <i2 >i4 <u8 <f2 >f4 <f8 <f16 <c8 >c16 <c32 |S5 <U3 |V6
<M8 <M8[ns] >m8[25s] <M8[1s] <M8[generic] <V2 |O f4 float32 <M8[h/4] |S0 <f3
|S2147483647 <U536870911""".split()


def texts():
    for i, text in enumerate(DTYPES):
        put("fuzz_dtype", f"{i:02}", text.encode())
    for i, text in enumerate(("0", "5", "0,5,2", "10:20", "::-1", ":", "::",
                              "3:1", "0:10:3,9", "99", "-1", "1:-1", "::0",
                              " 1", "1,", "", "::9223372036854775807",
                              "18446744073709551616", "9:0:-2,:,1:2:3")):
        records = 2 ** 63 - 1 if i % 5 == 4 else 10
        put("fuzz_selection", f"{i:02}",
            struct.pack("<Q", records) + text.encode())
    for i in range(0, 36, 2):
        put("fuzz_text", f"{i:02}", bytes([i, i % 4, 2, 3, 2]) +
            bytes((k * 37 + i) % 256 for k in range(96)))
    put("fuzz_text", "nan", bytes([0, 1, 4]) + struct.pack(
        "<4f", float("nan"), float("inf"), -0.0, 1e-45))
    put("fuzz_text", "f8", bytes([2, 1, 6]) + struct.pack(
        "<6d", 5e-324, 1.7976931348623157e308, 0.1, 1e23, 2 ** 53, -0.0))


def npy(descr, shape, fortran="False", version=b"\1\0", extra=""):
    text = (f"{{'descr': {descr}, 'fortran_order': {fortran}, "
            f"'shape': {shape}, {extra}}}").encode()
    wide = version[0] > 1
    pad = -(len(text) + 1 + (12 if wide else 10)) % 64
    text += b" " * pad + b"\n"
    return (b"\x93NUMPY" + version +
            struct.pack("<I" if wide else "<H", len(text)) + text)


def npys():
    for i, args in enumerate((
            ("'<f4'", "()"), ("'<f4'", "(3,)"), ("'|u1'", "(3, 4)"),
            ("'<M8[ns]'", "(1, 2, 3)"), ("'<f8'", "(0,)"),
            ("'<f4'", "(3,)", "True"), ("'<f4'", "(3,)", "False", b"\2\0"),
            ("'<f4'", "(3,)", "False", b"\3\0"),
            ("'|O'", "(3,)"), ("[('a', '<i4')]", "(3,)"),
            ("'<f4'", "(9223372036854775807, 2)"), ("'<f4'", "(-1,)"),
            ("'<f4'", "(3)"), ("'<f4'", "(3,)", "False", b"\1\0", "'x': 1"),
            ("'<f4'", str((1,) * 64)), ("'<f4'", str((1,) * 65)))):
        put("fuzz_npy", f"{i:02}", npy(*args))
    for path in sorted(glob.glob(DATA + "/demo/*.npy")):
        put("fuzz_npy", os.path.basename(path), load("", path)[:200])


def main():
    for path in glob.glob(HERE + "/corpus/*/seed-*"):
        os.unlink(path)
    containers()
    texts()
    npys()


if __name__ == "__main__":
    main()
