#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""dtypes, .npy headers, text and JSON of the library against NumPy's own.

    npy_numpy.py [PATH of npy_tool]     else $BUILD/tests/npy_tool

Where localedef is, the library runs in a locale with a decimal comma.
"""
import atexit
import datetime
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unicodedata
import warnings

try:
    import numpy as np
    from numpy.lib import format as npy_format
except ImportError:
    print("no numpy here")
    sys.exit(77)

TOOL = sys.argv[1] if len(sys.argv) > 1 else os.environ["BUILD"] + "/tests/npy_tool"
RANDOM = random.Random(1)
RNG = np.random.default_rng(1)
UNITS = "Y M W D h m s ms us ns ps fs as".split()
LONG = np.dtype(np.longdouble).itemsize
FLOATS = ["f2", "f4", "f8"] + (["f16"] if LONG == 16 else [])
failures = 0


def tool(mode, text):
    return subprocess.run([TOOL, mode], input=text.encode(), check=True,
                          stdout=subprocess.PIPE).stdout


def run(mode, lines):
    out = tool(mode, "".join(l + "\n" for l in lines)).decode().split("\n")[:-1]
    assert len(out) == len(lines), (len(out), len(lines))
    return out


def ours(mode, arrays):
    """The texts of the arrays, which go through .npy files."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for i, a in enumerate(arrays):
            paths.append(f"{folder}/{i}.npy")
            np.save(paths[-1], a)
        out = tool(mode, "".join(p + "\n" for p in paths))
    texts = []
    for _ in arrays:
        line, out = out.split(b"\n", 1)
        texts.append(out[:int(line)].decode())
        out = out[int(line):]
    assert not out
    return texts


def report(name, wrong, count):
    global failures
    print(f"{'not ok' if wrong else 'ok'} - {name}")
    print(f"# {name}: {count} compared, {len(wrong)} differ")
    for line in wrong[:5]:
        print("#  ", line)
    failures += bool(wrong)


def dtypes_simple():
    for order in "<>":
        for size in "i2 i4 i8 u2 u4 u8 c8 c16".split() + FLOATS:
            yield order + size
        if LONG == 16:
            yield order + "c32"
        yield from (order + "U1", order + "U17", order + "M8", order + "m8")
        for unit in UNITS:
            yield f"{order}M8[{unit}]"
            yield f"{order}m8[{RANDOM.randrange(2, 2**31)}{unit}]"
    yield from ("|b1", "|i1", "|u1", "|S1", "|S2147483647", "<U536870911", "|V3")


def check_dtypes():
    """What we accept NumPy spells the same; what it spells we accept."""
    texts = set(dtypes_simple())
    for s in sorted(texts):
        for _ in range(100):
            cut = list(s)
            at = RANDOM.randrange(len(cut))
            cut[at:at + RANDOM.randrange(2)] = RANDOM.choice(
                list("<>|=biufcmMSUVO0123456789[]YMWDhmsunpfa, +-") + ["ns", "16", ""])
            texts.add("".join(cut))
    texts = sorted(t for t in texts if t)
    wrong = []
    for text, got in zip(texts, run("dtype", [t.encode().hex() for t in texts])):
        try:
            want = np.dtype(text)
            canonical = (want.str == text and want.itemsize > 0 and
                         not want.hasobject and not want.names and
                         "[0" not in text)
        except (TypeError, ValueError, SyntaxError, OverflowError):
            want, canonical = None, False
        if got.startswith("!"):
            if canonical:
                wrong.append(f"{text!r} is refused: {got}")
        elif want is None:
            wrong.append(f"{text!r} is accepted: {got}")
        elif got != f"{want.str} {want.str[0]} {want.itemsize}":
            wrong.append(f"{text!r}: {got}, not {want.str}")
    report("dtypes", wrong, len(texts))


def numpy_header(descr, shape, fortran=False, version=1):
    f = io.BytesIO()
    write = (npy_format.write_array_header_1_0 if version == 1 else
             npy_format.write_array_header_2_0)
    write(f, {"descr": descr, "fortran_order": fortran, "shape": shape})
    data = bytearray(f.getvalue())
    data[6] = version  # 3.0 differs from 2.0 in that and non-Latin names
    return bytes(data)


def random_shape(top):
    dims = [0, 1, 2, 3, 9, 10, 99, 100, 224, 1000, 65535, 10**6, 10**9,
            2**31, 2**32, 2**40, 10**18, 2**63 - 1]
    return tuple(RANDOM.choice(dims) for _ in range(RANDOM.randrange(top + 1)))


def check_headers():
    simple = list(dtypes_simple())
    cases = [(d, s) for d in simple for s in ((), (0,), (3,), (2, 3))]
    cases += [("<f4", (1,) * n) for n in range(65)]
    cases += [("<c16", (100,) * 9), ("<f4", (2**40,) * 8),
              ("<f4", (2**63 - 1,) * 6), ("<f4", (2**63 - 1,) * 64)]
    cases += [(RANDOM.choice(simple), random_shape(RANDOM.choice((3, 12, 64))))
              for _ in range(20000)]
    lines = [" ".join([d, *map(str, s)]) for d, s in cases]
    wrong = [f"{line}: {got}" for line, (d, s), got
             in zip(lines, cases, run("header", lines))
             if got != numpy_header(d, s).hex()]
    report("headers", wrong, len(cases))


def fits(descr, shape):
    n = 0 if 0 in shape else 1
    for d in shape:
        n *= d
    return n * np.dtype(descr).itemsize < 2**63


def check_parse():
    """What NumPy writes, C and Fortran, versions 1 to 3, is read."""
    cases = []
    for _ in range(5000):
        descr, shape = RANDOM.choice(list(dtypes_simple())), random_shape(8)
        fortran = RANDOM.random() < 0.5
        data = numpy_header(descr, shape, fortran, RANDOM.choice((1, 2, 3)))
        cases.append((data, descr, shape, fortran))
    wrong = []
    for (data, descr, shape, fortran), got in zip(
            cases, run("parse", [c[0].hex() for c in cases])):
        want = " ".join([descr, "CF"[fortran], str(len(data)), *map(str, shape)])
        if not fits(descr, shape):
            want = "! EUCLEAN the shape has more than 2^63-1 bytes"
        if got != want:
            wrong.append(f"{want}: {got}")
    report("parse", wrong, len(cases))


def check_parse_damage():
    """No damaged header that NumPy refuses is accepted, or read otherwise."""
    cases = []
    seeds = [numpy_header(d, s) for d, s in
             (("<f4", (2, 3)), ("|u1", ()), ("<M8[25s]", (7,)), (">U3", (1, 0)))]
    pieces = [b"'", b'"', b",", b"(", b")", b"{", b"}", b"[", b"]", b":", b" ",
              b"\n", b"0", b"1", b"-", b"L", b"True", b"1.", b"\0", b"\xe9",
              b"#", b"\\", b"'descr': '<f4', ", b"'shape': (), ", b"'x': 1, "]
    for _ in range(20000):
        data = bytearray(RANDOM.choice(seeds))
        for _ in range(RANDOM.choice((1, 1, 2))):
            at = RANDOM.randrange(10, 75)
            data[at:at + RANDOM.randrange(3)] = RANDOM.choice(pieces)
        data = data[:128].ljust(127, b" ")[:127] + b"\n"
        cases.append(bytes(data))
    wrong, accepted = [], 0
    for data, got in zip(cases, run("parse", [c.hex() for c in cases])):
        if got.startswith("!"):
            continue
        accepted += 1
        try:
            f = io.BytesIO(data[8:])
            shape, fortran, dtype = npy_format.read_array_header_1_0(f)
        except Exception as e:
            wrong.append(f"{data!r}: {got}; numpy: {e}")
            continue
        want = " ".join([dtype.str, "CF"[fortran], "128", *map(str, shape)])
        if got != want:
            wrong.append(f"{data!r}: {got}; numpy: {want}")
    report("damaged headers", wrong, len(cases))
    print(f"#   {accepted} of them accepted")


def random_array(descr, shape):
    """Any bit patterns, so NaN, subnormal and extreme values too."""
    dtype = np.dtype(descr)
    n = int(np.prod(shape, dtype=np.int64))
    if dtype.kind in "fc" and dtype.itemsize in (16, 32) and "f2" not in descr \
            and descr[1:] in ("f16", "c32"):
        parts = n * (dtype.itemsize // 16)
        a = RNG.standard_normal(parts).astype(np.longdouble)
        a *= np.ldexp(np.longdouble(1), RNG.integers(-16400, 16380, parts))
        a += a * np.ldexp(np.longdouble(1), -60) * RNG.standard_normal(parts)
        a = np.ascontiguousarray(a).view(dtype.newbyteorder("=")).astype(dtype)
        return a.reshape(shape)
    raw = RNG.integers(0, 256, n * dtype.itemsize, dtype=np.uint8)
    if dtype.kind == "b":
        raw &= 1
    return raw.view(dtype).reshape(shape)


def floats_to_try(descr):
    """Values that are awkward for a printer, and ordinary ones."""
    t = np.dtype(descr).newbyteorder("=").type
    info = np.finfo(t)
    with np.errstate(all="ignore"):
        powers = np.ldexp(t(1), np.arange(-1100 if descr[1:] == "f8" else -160,
                                          1030, dtype=np.int32))
        around = [np.nextafter(powers, t(0)), powers, np.nextafter(powers, t(np.inf))]
        tens = np.array([t(f"1e{k}") for k in range(-40, 40)], t)
        short = (RNG.integers(-10**6, 10**6, 3000) / 10.0 **
                 RNG.integers(0, 8, 3000)).astype(t)
        whole = RNG.integers(-2**62, 2**62, 2000).astype(t)
        normal = RNG.standard_normal(3000).astype(t)
        edges = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, info.max, info.tiny,
                          -info.max, 1e16, 9999999999999998, 1e-4, 9.9999e-5,
                          123456789012345678, 2**50 + .25, 2**50 + .75], t)
        return np.concatenate([*around, tens, short, whole, normal, edges]).astype(descr)


def texts_of(a):
    """As str() writes each. For narrow floats NumPy 2.4 turns to exponents
    earlier than for others: the same digits, spelled by Python."""
    texts = [str(x) for x in a]
    return [repr(float(t)) for t in texts] if a.itemsize < 8 else texts


def check_floats():
    for descr in [o + f for f in FLOATS for o in "<>"]:
        if descr[1:] == "f2":
            a = np.arange(2**16, dtype="u2").view("f2").astype(descr)
        else:
            a = np.concatenate([floats_to_try(descr),
                                random_array(descr, (6000,))])
        with np.errstate(all="ignore"):
            want = texts_of(a)
            text, = ours("text", [a])
        got = text.split()
        assert len(got) == len(want), descr
        bad = [f"{g}, numpy {w}" for g, w in zip(got, want) if g != w]
        report(f"shortest digits of {descr}", bad, len(a))
        t = a.dtype.newbyteorder("=").type
        back = np.array([t(g) for g in got], t)
        same = np.where(np.isnan(a), np.isnan(back),
                        (back == a) & (np.signbit(back) == np.signbit(a)))
        report(f"{descr} reads back", [got[i] for i in np.flatnonzero(~same)], len(a))


def check_loadtxt():
    wrong, count = [], 0
    for descr in "|b1 |i1 |u1 <i2 >i4 <i8 >u8 <u4 <f4 >f8 <f2 <c16 >c8".split():
        for shape in ((), (1,), (7,), (3, 4), (1, 5), (2, 3, 4), (2, 1, 2, 3)):
            a = random_array(descr, shape)
            text, = ours("text", [a])
            dtype = a.dtype.newbyteorder("=")
            back = np.loadtxt(io.StringIO(text), ndmin=2,
                              dtype="f8" if descr == "<f2" else dtype).astype(dtype)
            lines = [l for l in text.split("\n") if l]
            count += 1
            width = shape[-1] if shape else 1
            if back.shape != (a.size // width, width) or len(lines) != len(back) \
                    or not np.array_equal(back.ravel(), a.ravel(),
                                          equal_nan=dtype.kind in "fc"):
                wrong.append(f"{descr} {shape}: {text}")
            blocks = 1
            for d in shape[:-2]:
                blocks *= d
            if text.count("\n\n") != blocks - 1 or not text.endswith("\n"):
                wrong.append(f"{descr} {shape}: blocks of {text!r}")
    report("loadtxt reads text", wrong, count)


def check_dates():
    """Every unit; NumPy's own arithmetic overflows at the far end of some."""
    wrong, count = [], 0
    for unit in UNITS:
        for multiplier in ("", 2, 25, 1000):
            for order in "<>":
                span = np.concatenate([
                    RNG.integers(-10**4, 10**4, 300),
                    RNG.integers(-2**40, 2**40, 300),
                    RNG.integers(-2**52 // 1000, 2**52 // 1000, 300)
                    if unit in ("Y", "M", "W") or multiplier
                    else RNG.integers(-2**62, 2**62, 300),
                    [-2**63, 0, 1, -1]]).astype("i8")
                a = span.astype(order + "i8").view(f"{order}M8[{multiplier}{unit}]")
                text, = ours("text", [a])
                got = text.split()
                want = [str(x) for x in np.datetime_as_string(
                    a.astype(a.dtype.newbyteorder("=")))]
                count += len(want)
                wrong += [f"{a.dtype}: {g}, numpy {w}"
                          for g, w in zip(got, want) if g != w]
                spans, = ours("text", [a.view(f"{order}m8[{unit}]")])
                if [s if s != "NaT" else str(-2**63) for s in spans.split()] \
                        != [str(x) for x in span]:
                    wrong.append(f"m8[{unit}]: {spans[:200]}")
    report("dates", wrong, count)


def exact_date(count, unit, multiplier):
    """Python's calendar, one cycle of 400 years of it, and its integers."""
    n = count * multiplier
    if unit == "Y":
        return f"{1970 + n:04d}"
    if unit == "M":
        return f"{1970 + n // 12:04d}-{n % 12 + 1:02d}"
    at = UNITS.index(unit)
    digits = max(0, 3 * (at - UNITS.index("s")))
    n, fraction = divmod(n * 7 if unit == "W" else n, 10**digits)
    days, rest = divmod(n, {"W": 1, "D": 1, "h": 24, "m": 1440}.get(unit, 86400))
    cycle, day = divmod(days + datetime.date(1970, 1, 1).toordinal() - 1, 146097)
    date = datetime.date.fromordinal(day + 1)
    text = f"{date.year + 400 * cycle:04d}-{date.month:02d}-{date.day:02d}"
    if unit in "WD":
        return text
    if unit == "h":
        return f"{text}T{rest:02d}"
    if unit == "m":
        return f"{text}T{rest // 60:02d}:{rest % 60:02d}"
    text += f"T{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{text}.{fraction:0{digits}d}" if digits else text


def check_far_dates():
    """Where NumPy's arithmetic overflows ours does not."""
    wrong, count = [], 0
    for unit in UNITS:
        for multiplier in (1, 2, 7, 2**31 - 1):
            span = np.concatenate([
                RNG.integers(-2**63 + 1, 2**63 - 1, 200), RNG.integers(-10**5, 10**5, 200),
                [2**63 - 1, -2**63 + 1, 0, -1]]).astype("i8")
            text, = ours("text", [span.view(f"<M8[{multiplier}{unit}]")])
            want = [exact_date(n, unit, multiplier) for n in span.tolist()]
            count += len(want)
            wrong += [f"{multiplier}{unit}: {g}, not {w}"
                      for g, w in zip(text.split(), want) if g != w]
    report("far dates", wrong, count)


def as_json(a):
    """What a Python list of the array is, with strings for what is none."""
    def one(x):
        if a.dtype.kind == "f":
            x = a.dtype.newbyteorder("=").type(x)
            return float(str(x)) if np.isfinite(x) else str(x)
        if a.dtype.kind == "S":
            return x.decode("latin-1")
        if a.dtype.kind == "M":
            return str(np.datetime_as_string(np.array(x, a.dtype.newbyteorder("="))))
        if a.dtype.kind == "m":
            x = int(np.array(x, a.dtype.newbyteorder("=")).view("i8"))
            return x if x != -2**63 else "NaT"
        if a.dtype.kind == "V":
            return x.tobytes().hex()
        return x.item()

    def walk(b):
        return [walk(c) for c in b] if isinstance(b, np.ndarray) else one(b)
    return walk(a if a.ndim else a[()])


def check_json():
    wrong, count = [], 0
    descrs = ("|b1 |i1 |u1 <i2 >i2 <i4 >i8 <u8 >u4 <f2 >f4 <f8 >f8 |S5 |V3 "
              "<M8[ms] >M8[25s] <m8[h] >m8[h]").split()
    shapes = [(), (1,), (5,), (2, 3), (3, 1, 2), (2, 2, 2, 2), (0,), (2, 0),
              (0, 3), (2, 3, 0), (2, 0, 3), (1,) * 20, (1,) * 31 + (2,)]
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        shapes += [(1,) * 64, (1,) * 62 + (2, 2)]
    for descr in descrs:
        arrays = [random_array(descr, s) for s in shapes]
        if descr in ("<M8[ms]", ">M8[25s]"):
            arrays = [np.array(a.view(descr[0] + "i8") // 2**20, descr[0] + "i8")
                      .view(descr) for a in arrays]
        for a, text in zip(arrays, ours("json", arrays)):
            count += 1
            try:
                got = json.loads(text, parse_constant=lambda s: 1 / 0)
            except Exception as e:
                wrong.append(f"{descr} {a.shape}: {e}: {text[:100]}")
                continue
            if got != as_json(a) or repr(got) != repr(as_json(a)):
                wrong.append(f"{descr} {a.shape}: {text[:200]} {as_json(a)}")
    report("JSON", wrong, count)


def unseen(c):
    """A space, a control character, or one that turns the text around. The
    format characters of Arabic and Syriac numbers can be seen."""
    return unicodedata.category(c) in (
        "Zs Zl Zp Cc Cs" if "\u0600" <= c < "\u0900" and c != "\u061c"
        else "Zs Zl Zp Cc Cs Cf").split()


def check_strings():
    """Text of strings splits into the elements and can be unescaped."""
    points = [c for c in range(1, 0x3100)] + [0xd800, 0xdfff, 0xfeff, 0xfffd,
                                              0x1f600, 0x10ffff]
    words = ["", "a", " ", "a b", '"', '""', "\\", "\\x20", "a\0b", "\n\t\r"]
    words += ["x" + chr(c) + "y" for c in points]
    words = [w for w in words if not any(0xd800 <= ord(c) < 0xe000 for c in w)]
    wrong = []
    for descr in ("<U6", ">U6"):
        a = np.array(words).astype(descr)
        text, = ours("text", [a])
        got = text[:-1].split(" ")
        for g, w in zip(got, a.tolist()):
            if len(g.split()) != 1 or any(map(unseen, g)):
                wrong.append(f"{w!r} is not one visible word: {g!r}")
            plain = "" if g == '""' else g.encode("latin-1", "backslashreplace") \
                .decode("unicode_escape")
            if plain != w:
                wrong.append(f"{w!r}: {g!r}")
        if len(got) != len(a):
            wrong.append(f"{len(got)} words of {len(a)}")
        text, = ours("json", [a])
        if json.loads(text) != a.tolist():
            wrong.append("JSON of U")
    a = np.array([bytes([c]) + b"|" for c in range(256)] + [b"", b"\0\0", b"a\0b"])
    text, = ours("text", [a])
    if not text.isascii():
        wrong.append("bytes beyond ASCII in text")
    got = [b"" if g == '""' else g.encode().decode("unicode_escape").encode("latin-1")
           for g in text[:-1].split(" ")]
    if got != a.tolist():
        wrong.append("text of S")
    text, = ours("json", [a])
    if [s.encode("latin-1") for s in json.loads(text)] != a.tolist():
        wrong.append("JSON of S")
    bad = np.array([0x110000, 0xffffffff, 0xd800, 65], "u4").view("<U1")
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/a.npy", np.zeros(4, "<U1"))
        with open(f"{folder}/a.npy", "r+b") as f:
            f.seek(128)
            f.write(bad.tobytes())
        out = [tool(mode, f"{folder}/a.npy\n").decode().split("\n", 1)[1]
               for mode in ("text", "json")]
    if out != ["\\U00110000 \\Uffffffff \\ud800 A\n", '["�", "�", "\\ud800", "A"]']:
        wrong.append(f"beyond Unicode: {out}")
    report("strings", wrong, 2 * len(words) + 259)


def decimal_comma():
    """For the library's process; Python's own locale is set already."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    name = "de_DE.UTF-8"
    try:
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{folder}/{name}"],
                       check=True, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return "C"
    os.environ.update(LOCPATH=folder, LC_ALL=name)
    return name


def main():
    warnings.simplefilter("ignore")
    print(f"# numpy {np.__version__}, locale {decimal_comma()}")
    check_dtypes()
    check_headers()
    check_parse()
    check_parse_damage()
    check_floats()
    check_loadtxt()
    check_dates()
    check_far_dates()
    check_json()
    check_strings()
    sys.exit(failures > 0)


main()
