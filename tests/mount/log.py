#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What goes wrong in the background is told to the log of the system, bounded,
and a log that is full, gone or never there hangs nobody.

The part below runs as root in a mount namespace of its own, in which /dev is
a folder of ours."""
import socket
import threading

from common import *


def outside():
    if os.getuid():
        print("skipped: only root may have a /dev of its own")
        sys.exit(77)
    p = subprocess.run(["unshare", "-m", "--propagation", "private",
                        sys.executable, os.path.abspath(__file__)],
                       env={**os.environ, "LOG_TEST": "inside"})
    sys.exit(p.returncode)


def own_dev():
    dev = tempfile.mkdtemp(dir=WORK)
    c = ["mount", "-t", "tmpfs", "none", dev]
    check(not quiet(*c).returncode, c)
    for name, minor, major in (("null", 3, 1), ("zero", 5, 1),
                               ("urandom", 9, 1), ("fuse", 229, 10)):
        os.mknod(f"{dev}/{name}", 0o666 | 0o020000, os.makedev(major, minor))
    check(not quiet("mount", "--move", dev, "/dev").returncode, "/dev")


class Log:
    """A log daemon: lines are kept."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("/dev/log")
        self.socket.settimeout(0.05)
        self.lines = []
        self.stop = self.deaf = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.stop:
            if self.deaf:
                time.sleep(0.01)
                continue
            try:
                self.lines.append(self.socket.recv(9000).decode())
            except socket.timeout:
                pass

    def close(self):
        self.stop = True
        self.thread.join()
        self.socket.close()
        os.unlink("/dev/log")

    def has(self, *words):
        return any(all(w in line for w in words) for line in self.lines)


def bad_container():
    """Record 1 of 4 is no zstd frame any more, 2 is good."""
    path = make_dense("bad", np.arange(4 * 999, dtype="<i4").reshape(4, 999),
                      "zstd")
    with open(f"{path}/meta.zr", "r+b") as f:
        f.seek(4096 + 16)
        offset, size, _ = struct.unpack("<QII", f.read(16))
    with open(f"{path}/data.zr", "r+b") as f:
        f.seek(offset)
        f.write(bytes(size))
    return path


def is_error(path):
    try:
        read(path)
    except OSError as e:
        return e.errno == 5
    return False


def ask(point, times):
    """Errors, each of which the kernel asks for anew."""
    start = time.monotonic()
    for _ in range(times):
        check(is_error(f"{point}/records/1.npy"), "record 1 is read")
    check(len(read(f"{point}/records/2.npy")) > 3000, "record 2")
    return time.monotonic() - start


def inside():
    own_dev()
    path = bad_container()
    log = Log()
    with Mount(path) as p:
        ask(p, 1)
        check(wait_until(lambda: log.has("record 1")), f"log: {log.lines}")
        line = next(x for x in log.lines if "record 1" in x)
        # Facility 3, daemon, severity 3, error: as syslog(3) writes it.
        check(line.startswith("<27>") and " zrecordfs[" in line and
              path in line and "\n" not in line, f"line: {line!r}")
        time.strptime(line[4:19], "%b %d %H:%M:%S")
        # 500 errors are one line a second, and how many there were.
        before = len(log.lines)
        took = ask(p, 500)
        time.sleep(1.1)
        ask(p, 1)
        check(wait_until(lambda: log.has("errors not told")), f"{log.lines}")
        check(len(log.lines) - before <= took + 3, f"{len(log.lines)} lines")
        check(json.loads(read(f"{p}/stats.json"))["errors"] >= 502, "errors")
        # A log that does not read: its queue is soon full.
        log.deaf = True
        for _ in range(3):
            check(ask(p, 200) < 10, "a log that is full hangs the mount")
            time.sleep(1.1)
        log.deaf = False
        # A log that goes.
        log.close()
        time.sleep(1.1)
        ask(p, 20)
    with Mount(path) as p:
        ask(p, 20)
    # How it ended: something uses the mount when the second signal comes.
    log = Log()
    m = Mount(path)
    p = m.__enter__()
    driver = min(drivers(p))
    held = os.open(f"{p}/info.json", os.O_RDONLY)
    os.kill(driver, 15)
    time.sleep(0.8)
    os.kill(driver, 15)
    check(wait_until(lambda: log.has("second signal")), f"end: {log.lines}")
    try:
        os.close(held)
    except OSError:
        pass # Its file system has ended.
    check(wait_until(lambda: not drivers(p)), "the driver stays")
    log.close()


if os.environ.get("LOG_TEST"):
    inside()
else:
    outside()
