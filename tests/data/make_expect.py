#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Write golden/expect.tsv and bad/expect.tsv from the JSON files beside them.

golden, a line per container, then one per record:
    C  name  kind  dtype  item_shape  codec  records
    R  shape  sha256 of the .npy file
bad, a line per container:
    name  base  ok|error|unpublished  bad ids  id=id of the base it equals
A shape is "3,4,5", a scalar "-". An empty list is "-".
"""
import json
import os
import struct

here = os.path.dirname(os.path.abspath(__file__))


def load(name):
    with open(os.path.join(here, name)) as f:
        return json.load(f)


def write(name, rows):
    with open(os.path.join(here, name), "w") as f:
        f.writelines("\t".join(map(str, row)) + "\n" for row in rows)


def numbers(values):
    return ",".join(map(str, values or [])) or "-"


def table(container, records):
    """The table entries of meta.zr: (offset, stored, decoded length)."""
    with open(os.path.join(here, container, "meta.zr"), "rb") as f:
        meta = f.read()
    return [struct.unpack_from("<QII", meta, 4096 + 16 * i)
            for i in range(records)]


def golden(manifest):
    for name, c in manifest.items():
        yield ("C", name, c["kind"], c["dtype"], numbers(c["item_shape"]),
               c["codec"], c["count"])
        for r in c["records"]:
            yield "R", numbers(r["shape"]), r["npy_sha256"]


def bad(expect, manifest):
    for name, want in expect.items():
        same = []
        if name == "ok_shared_location":
            entries = table("bad/" + name, manifest[want["base"]]["count"])
            same = [f"{i}={entries.index(e)}" for i, e in enumerate(entries)
                    if entries.index(e) != i]
        yield (name, want["base"], want["open"], numbers(want["bad_records"]),
               numbers(same))


manifest = load("golden/manifest.json")["containers"]
write("golden/expect.tsv", golden(manifest))
write("bad/expect.tsv", bad(load("bad/expect.json"), manifest))
