# SPDX-License-Identifier: BSD-2-Clause
"""Cases of several parts, each counted by itself; the long forms of them."""
import signal
import traceback

import common
from common import *

LONG = os.environ.get("ZRECORD_LONG", "") not in ("", "0")


class Skip(Exception):
    """What the machine does not have."""


class Failed(Exception):
    pass


def fail(what):
    """In place of common.fail: the runner shows what is below "not ok"."""
    raise Failed(what)


common.fail = fail


def part(name):
    """Run the function below at once, as the part `name`."""
    def run(function):
        start = time.monotonic()
        try:
            function()
        except Skip as why:
            print(f"ok - {name} # SKIP {why}", flush=True)
        except BaseException:
            print(f"not ok - {name}\n{traceback.format_exc()}", flush=True)
            sys.exit(1)
        else:
            print(f"ok - {name} ({time.monotonic() - start:.1f}s)", flush=True)
        return function
    return run


def needs_root():
    if os.getuid() != 0:
        raise Skip("only root may do this")


def resident(pid, what="VmRSS"):
    """KiB of memory."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(row.split()[1]) for row in f
                    if row.startswith(what + ":"))


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


class Child:
    """`function` in a process of its own, which may not take for ever."""

    def __init__(self, function, *args):
        sys.stdout.flush()
        self.name = function.__name__
        # What it says of its failure must stand below ours.
        self.said = tempfile.mktemp(prefix="child-", dir=WORK)
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                function(*args)
                status = 0
            except BaseException:
                with open(self.said, "w", encoding="utf-8") as f:
                    traceback.print_exc(file=f)
            finally:
                sys.stdout.flush()
                os._exit(status)
        atexit.register(self.kill)

    def kill(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def running(self):
        return not os.waitid(os.P_PID, self.pid,
                             os.WEXITED | os.WNOHANG | os.WNOWAIT)

    def status(self, seconds=PATIENCE):
        """Its exit status, or minus the signal that ended it."""
        if not wait_until(lambda: not self.running(), seconds):
            fail(f"{self.name} hangs")
        atexit.unregister(self.kill)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def done(self, seconds=PATIENCE):
        status = self.status(seconds)
        said = read(self.said).decode() if os.path.exists(self.said) else ""
        check(status == 0, f"{self.name}: exit status {status}\n{said}")
