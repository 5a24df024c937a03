#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The progress bar stays on one line of the terminal, whatever its width and
# the name are, and -q shows none.
. "$(dirname "$0")/count.sh"

"$PYTHON" - "$ZRECORD" <<'P' || failed "see above"
import fcntl, os, pty, re, shutil, signal, struct, subprocess, sys, termios, time
import unicodedata
zrecord = sys.argv[1]
head = (b"\x93NUMPY\x01\x00\x76\x00" +
        b"{'descr': '|u1', 'fortran_order': False, 'shape': (100000, 1000), }".ljust(117) + b"\n")
bad = []

def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else
               not unicodedata.combining(c) for c in text)

def size(fd, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))

def shown(args, columns, then=None, known=True, seconds=1.0, feed=True):
    """What a command shows on a terminal while its source comes slowly."""
    master, slave = pty.openpty()
    size(slave, columns)
    p = subprocess.Popen([zrecord] + args, stderr=slave, stdout=subprocess.DEVNULL,
                         stdin=subprocess.PIPE if feed else subprocess.DEVNULL)
    if feed:
        p.stdin.write(head if known else b"")
    start = time.monotonic()
    while feed and time.monotonic() - start < seconds:
        p.stdin.write(bytes(200000) if known else b"x" * 99 + b"\n")
        p.stdin.flush()
        time.sleep(0.02)
        if then and time.monotonic() - start > seconds / 2:
            size(slave, then)
    if feed:
        p.send_signal(signal.SIGTERM)
        p.wait()
        p.stdin.close()
    else:
        time.sleep(seconds)
        p.send_signal(signal.SIGTERM)
    p.wait()
    os.close(slave)
    out = b""
    try:
        while chunk := os.read(master, 65536):
            out += chunk
    except OSError:
        pass
    os.close(master)
    for n in os.listdir("."):
        if n.startswith("out"):
            shutil.rmtree(n)
    return out.decode("utf-8", "replace")

def check(what, out, columns, least=2):
    lines = [x for x in out.split("\r\033[K") if x]
    wide = [x for x in lines if width(x) >= columns]
    if "\n" in out or wide or len(lines) < least:
        bad.append("%s: %r" % (what, wide or out[:300]))
    if not out.endswith("\r\033[K"):
        bad.append("%s: is not taken away: %r" % (what, out[-100:]))
    return lines

long = "out" + "n" * 200
for columns in (200, 80, 40, 20, 12, 6):
    lines = check("%d columns" % columns, shown(["create", long, "-"], columns), columns)
    if columns >= 40 and not any("%" in x and "left" in x for x in lines):
        bad.append("%d columns: no share and time left: %r" % (columns, lines))
check("unknown width", shown(["create", long, "-"], 0), 80)
check("a resize", shown(["create", long, "-"], 120, then=30), 120)
out = shown(["create", long, "-"], 120, then=30, seconds=2)
if width([x for x in out.split("\r\033[K") if x][-1]) >= 30:
    bad.append("a resize is not seen: %r" % out)
for name in ("out" + "\u00e4" * 90, "out" + "\u8a9e" * 60, "out\udcff\udc80\x01" + "y" * 90,
             "out" + "\U0001f600" * 40):
    for columns in (80, 30, 20):
        check(ascii(name[:8]), shown(["create", name, "-"], columns, seconds=0.5), columns, 1)
if "\x01" in shown(["create", "out\x01", "-"], 80, seconds=0.5):
    bad.append("a control character reaches the terminal")
for q in ("-q", "--quiet"):
    if out := shown(["create", q, "out", "-"], 80):
        bad.append("%s shows %r" % (q, out))
# Training cannot be counted: what is done, and since when.
import random
r = random.Random(1)
words = [bytes(r.choices(range(97, 123), k=7)) for _ in range(3000)]
with open("t.txt", "wb") as f:
    for i in range(600000):
        f.write(b" ".join(r.choices(words, k=5)) + b"\n")
out = shown(["create", "--codec", "zstd_dict", "--tier", "max", "out", "--lines", "t.txt"],
            60, feed=False, seconds=4)
if "training" not in out:
    bad.append("training is not shown: %r" % out)
# It may have come to its end, and say what was made.
check("training", re.sub("out: [0-9]+ records, [^\r]*\r\n$", "", out), 60)
# A line that is told while the bar is shown stands alone.
n = 3000000
with open("many.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\x00\x76\x00" +
            (b"{'descr': '|u1', 'fortran_order': False, 'shape': (%d, 8), }" % n).ljust(117) +
            b"\n" + bytes(8 * n))
subprocess.run([zrecord, "create", "-q", "many.zr", "many.npy"], check=True)
with open("many.zr/data.zr", "r+b") as f:
    for i in range(0, 8 * n, 8 * n // 40):
        f.seek(i)
        f.write(b"x")
master, slave = pty.openpty()
p = subprocess.Popen([zrecord, "verify", "-j", "1", "many.zr", "many.zr"], stderr=slave,
                     stdout=subprocess.DEVNULL)
os.close(slave)
out = b""
try:
    while chunk := os.read(master, 65536):
        out += chunk
except OSError:
    pass
os.close(master)
p.wait()
out = out.decode()
told = [x for x in re.split("\r\n|\r\033\\[K", out) if "zrecord:" in x]
glued = [x for x in told if not x.startswith("zrecord: many.zr/data.zr: record ")]
if len(told) < 80 or glued or "%" not in out:
    bad.append("verify of what is damaged: %d lines, %r" % (len(told), glued or out[:300]))
for b in bad:
    print(b)
sys.exit(bool(bad))
P
finish
