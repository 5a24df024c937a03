#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The driver gives up its rights and still does all its work.

A library that is loaded into it tries what it may not do any more, from the
thread that answers INIT and from one that answers requests."""
import errno

from parts import *

PROBE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
static int of(int rc) { return rc < 0 ? errno : 0; }
ssize_t writev(int fd, const struct iovec *iov, int n)
{
	static atomic_int calls;
	ssize_t (*next)(int, const struct iovec *, int);
	*(void **)&next = dlsym(RTLD_NEXT, "writev");
	if (atomic_fetch_add(&calls, 1) < 40) {
		pid_t child = fork();
		if (!child)
			_exit(0);
		dprintf(2, "probe open %d create %d fork %d socket %d exec %d "
			"umount %d clone3 %d\n", of(open("/etc/hostname", O_RDONLY)),
			of(open(PROBED, O_RDWR | O_CREAT, 0600)),
			of(child), of(socket(AF_UNIX, SOCK_STREAM, 0)),
			of(execl("/nonexistent", "x", (char *)0)),
			of(umount2("/nonexistent", 0)),
			of(syscall(435, (void *)0, 0)));
	}
	return next(fd, iov, n);
}
"""
PROBED = os.path.join(WORK, "probed")
REFUSED = {errno.EPERM, errno.EACCES}
# The kernel seems too old for it: then the C library has another way.
MISSING = {errno.ENOSYS}
C = f"{DATA}/golden/dense_f4_zstd"


def status(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return dict(row.rstrip("\n").split(":\t", 1) for row in f
                    if ":\t" in row)


def probe():
    lib = os.path.join(WORK, "probe.so")
    with open(f"{WORK}/probe.c", "w", encoding="ascii") as f:
        f.write(PROBE)
    p = quiet(os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", lib,
              f"-DPROBED=\"{PROBED}\"", f.name, "-ldl")
    check(p.returncode == 0, p.stderr)
    return lib


def tries(*options):
    """What each attempt met, of each time it was tried."""
    m = Mount(C, "-f", *options)
    m.command = ["env", f"LD_PRELOAD={probe()}", *m.command]
    with m as point:
        os.listdir(f"{point}/records")
        read(f"{point}/records/" + min(os.listdir(f"{point}/records")))
    rows = [row.split()[1:] for row in m.text().splitlines()
            if row.startswith("probe ")]
    check(len(rows) > 2, m.text())
    return [dict(zip(r[::2], map(int, r[1::2]))) for r in rows]


@part("what is in force, in /proc and in stats.json")
def in_force():
    if SANITIZED:
        raise Skip("a sanitizer needs what the sandbox takes away")
    with Mount(C, "-f") as point:
        said = stats(point)["sandbox"]
        s = status(driver_of(point))
        check("no_new_privs" in said and "seccomp" in said, said)
        # landlock_create_ruleset: the version, if the kernel has it.
        has = libc.syscall(444, None, 0, 1) > 0
        check(("landlock" in said) == has, f"{said}, the kernel: {has}")
        check(s["NoNewPrivs"] == "1" and s["Seccomp"] == "2", s)
        check(int(s["CapEff"], 16) == int(s["CapPrm"], 16) == 0, s)


@part("sandbox=off leaves all")
def off():
    with Mount(C, "-f", "-o", "sandbox=off") as point:
        check(stats(point)["sandbox"] == [], stats(point))
        check(status(driver_of(point))["NoNewPrivs"] == "0", "")


@part("no file, process, socket or mount by any thread")
def refused():
    if SANITIZED:
        raise Skip("a sanitizer needs what the sandbox takes away")
    for row in tries():
        check(all(e in (MISSING if what == "clone3" else REFUSED)
                  for what, e in row.items()), row)
    check(not os.path.exists(PROBED), "a file was made")


@part("the probe sees the difference")
def difference():
    if SANITIZED:
        raise Skip("the library comes before the sanitizer's")
    rows = tries("-o", "sandbox=off")
    os.unlink(PROBED)
    check(all(r["open"] == r["fork"] == r["socket"] == 0 for r in rows), rows)


@part("a signal unmounts, with the driver in the sandbox")
def signalled():
    m = Mount(C, "-f")
    point = m.__enter__()
    pid = driver_of(point)
    os.kill(pid, signal.SIGTERM)
    check(m.process.wait(PATIENCE) == 0, m.text())
    check(not is_mounted(point), "still mounted")
    check(wait_until(lambda: not drivers(point)), drivers(point))


@part("the process that unmounts ends with a driver that is killed")
def killed():
    m = Mount(C, "-f")
    point = m.__enter__()
    check(len(drivers(point)) == 2, drivers(point))
    os.kill(driver_of(point), signal.SIGKILL)
    check(wait_until(lambda: not drivers(point)), drivers(point))
    m.clear()


@part("without the process that unmounts, fusermount3 still does")
def orphan():
    with Mount(C, "-f") as point:
        helper = next(p for p in drivers(point) if p != driver_of(point))
        os.kill(helper, signal.SIGKILL)
        names = os.listdir(f"{point}/records")
        check(read(f"{point}/records/{min(names)}"), "no bytes")


@part("without the process that unmounts, a second signal ends the driver")
def orphan_signalled():
    m = Mount(C, "-f")
    point = m.__enter__()
    pid = driver_of(point)
    helper = next(p for p in drivers(point) if p != pid)
    os.kill(helper, signal.SIGKILL)
    os.kill(pid, signal.SIGTERM)
    check(wait_until(lambda: "has ended" in m.text()), m.text())
    check(m.process.poll() is None and is_mounted(point), m.text())
    time.sleep(1)  # signals that come together are one
    os.kill(pid, signal.SIGTERM)
    check(m.process.wait(PATIENCE) == 2, m.text())
    m.clear()
