#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Whatever a command is doing, a signal at any moment ends it at once, with the
# status of the signal, and nothing is left behind.
. "$(dirname "$0")/count.sh"

# Large and hard to compress, so that every one of these takes seconds.
"$PYTHON" - <<'P'
import random
r = random.Random(3)
words = [bytes(r.choices(range(97, 123), k=r.randrange(2, 12))) for _ in range(3000)]
with open("t.txt", "wb") as f:
    for i in range(700000):
        f.write(b" ".join(r.choices(words, k=6)) + b"\n")
def npy(name, n, size):
    text = ("{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d), }"
            % (n, size)).encode()
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00\x76\x00" + text.ljust(117) + b"\n")
        for i in range(n):
            f.write(r.randbytes(1 << 20) * (size >> 20))
npy("big.npy", 2, 64 << 20)
P
done_well "$ZRECORD" create big.zr big.npy
done_well "$ZRECORD" create lines.zr --lines t.txt
mkfifo pipe
sleep 60 >pipe &
feeder=$!
trap 'kill $feeder 2>/dev/null; rm -rf "$WORK"' EXIT

# Starts each, with the signals as a shell has them, and stops it at a random
# moment. What is done before that is no failure.
"$PYTHON" - "$ZRECORD" <<'P' || failed "see above"
import os, random, shutil, signal, subprocess, sys, time
zrecord, r = sys.argv[1], random.Random()
seed = r.randrange(1 << 30)
r.seed(seed)
print("seed", seed)
cases = [
    ("train --tier max -o out lines.zr", 1.5),
    ("train --tier fast -o out -", 0.5),
    ("create --codec zstd_dict out lines.zr", 2),
    ("create --level 22 out big.npy", 2),
    ("create out --lines t.txt", 0.3),
    ("create out -", 0.5),
    ("create out --lines -", 0.5),
    ("recode --codec zstd --level 19 lines.zr out", 1),
    ("recover lines.zr out", 0.4),
    ("verify big.zr lines.zr", 0.2),
    ("export lines.zr out", 0.5),
    ("export --as npz lines.zr out.npz", 0.4),
    ("export --as npy big.zr out.npy", 0.1),
    ("bench lines.zr", 1),
]
bad = 0
def left():
    return [n for n in os.listdir(".") if n.startswith((".", "out")) and
            n not in (".out", ".err")]
for case, most in cases:
    for sig in (signal.SIGINT, signal.SIGTERM):
        args = case.split()
        piped = args[-1] == "-"
        p = subprocess.Popen([zrecord] + args, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            stdin=open("pipe", "rb") if piped else subprocess.DEVNULL,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        time.sleep(r.uniform(0.03, most))
        t = time.monotonic()
        p.send_signal(sig)
        err = p.stderr.read()
        status = p.wait()
        t = time.monotonic() - t
        if status == 0:
            pass
        elif status != -sig or err:
            print(case, "status", status, err)
            bad = 1
        elif left() == ["out"] and not subprocess.call(
                [zrecord, "verify", "out"], stdout=subprocess.DEVNULL):
            pass # it had been published
        elif left():
            print(case, "left", left())
            bad = 1
        # What it must not wait for takes tens of seconds; a machine that is
        # busy takes some to end any process.
        if status and t > 8:
            print(case, "took %.2f s to end" % t)
            bad = 1
        if os.environ.get("STOP_SHOW"):
            print(case, sig.name, status, "%.3f s" % t)
        for n in left():
            shutil.rmtree(n) if os.path.isdir(n) else os.unlink(n)
sys.exit(bad)
P

# A terminal that is stopped keeps a command neither from removing what is
# unfinished nor from ending.
"$PYTHON" - "$ZRECORD" <<'P' || failed "see above"
import os, pty, signal, subprocess, sys, termios, time
for sig in (signal.SIGTERM, signal.SIGINT):
    master, slave = pty.openpty()
    p = subprocess.Popen([sys.argv[1], "create", "--level", "22", "out", "big.npy"],
        stderr=slave, stdin=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    begun = b""
    while b"%" not in begun:
        begun += os.read(master, 4096)
    termios.tcflow(slave, termios.TCOOFF)
    time.sleep(1) # by now it waits to draw
    p.send_signal(sig)
    try:
        status = p.wait(20)
    except subprocess.TimeoutExpired:
        p.kill()
        p.wait()
        sys.exit("%s does not end it while its terminal is stopped" % sig.name)
    left = [n for n in os.listdir(".") if n.endswith((".zrtmp", ".zrend"))]
    if status != -sig or left:
        sys.exit("%s, a stopped terminal: status %d, left %s" % (sig.name, status, left))
    os.close(slave)
    os.close(master)
P
finish
