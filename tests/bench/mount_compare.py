#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Mounts of zrecordfs and of other file systems with the same records.

usage: mount_compare.py [--build DIR] [--scale F] [--rounds N] [--only WORD]...
                        [--install]

  --build DIR  where the programs are (build)
  --scale F    F times as many records (1)
  --rounds N   medians of so many rounds (5); in each, all take turns
  --only WORD  only what has WORD in its set, file system or case; may be given
               several times: then all of them
  --install    first install the peers (apt-get, and pip into DIR/venv-hdfuse)

Each measurement has a mount of its own. "First" is the first pass over the
files after a listing: the kernel knows nothing of the mount but names, while
the container or image behind it is in the page cache. "Second" is the next
one. The null file system (nullfs.c) only answers, with listings that tell
names or ("all told") files. What all show is compared before it is timed.

Prints JSON lines, then tables. Root is needed for what the kernel mounts itself
and for larger read-ahead; a peer that is missing is a row that says why. All
files and mounts are below one directory in DIR, which is removed however this
ends.
"""
import argparse, json, os, platform, re, shutil, signal
import subprocess, sys, tempfile, time

sys.dont_write_bytecode = True  # nothing of ours in the sources
import mount_tables, mount_targets
from mount_targets import Records, Refused, run

# Cases, with arguments of mount_read.
READS = {
    "in order": [],
    "in order, 2 readers": ["-t", "2"],
    "in order, 8 readers": ["-t", "8"],
    "random": ["-r"],
    "random, 2 readers": ["-t", "2", "-r"],
    "random, 8 readers": ["-t", "8", "-r"],
    "not listed": ["-g"],
}
STREAMS = {"stream": None, "stream, read-ahead 1 MiB": 1024}
# Of very many records. find lists names before it looks at them.
NAMES = {"ls_f_s": 'ls -f "$1"', "ls_l_s": 'ls -l "$1"',
         "find_s": 'find "$1" -size +9999'}
SLOW_TOO = "in order", "random", "ls -l"
COUNTED = {"in order": [], "random": ["-r", "1"]}
PASS_SECONDS = 1  # slow ones do not get to the last file


def emit(**row):
    print(json.dumps(row), flush=True)


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


def output(*cmd):
    try:
        return run(*cmd).strip()
    except Refused:
        return None


def available_mib():
    """A driver that looks at it pushes nothing when there is little."""
    with open("/proc/meminfo", encoding="utf-8") as f:
        return int(re.search(r"MemAvailable:\s+(\d+)", f.read())[1]) >> 10


def machine(args, venv):
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = re.search(r"model name\s*: (.*)", f.read())
    return {
        "machine": platform.machine(), "cpu": model and model[1],
        "cpus": os.cpu_count(), "kernel": platform.release(),
        "memory_mib": os.sysconf("SC_PHYS_PAGES") *
                      os.sysconf("SC_PAGE_SIZE") >> 20,
        "load": os.getloadavg(), "root": mount_targets.ROOT,
        "commit": output("git", "-C", mount_targets.HERE, "describe",
                         "--always", "--dirty"),
        "libfuse": output("pkg-config", "--modversion", "fuse3"),
        **{p: output("dpkg-query", "-W", "-f", "${Version}", p)
           for p in ("squashfuse", "squashfs-tools", "erofs-utils")},
        "hdfuse": re.findall("(?:hdfuse|fusepy|h5py)==.*", output(
            venv + "/bin/pip", "freeze") or ""),
        "scale": args.scale, "rounds": args.rounds, "only": args.only,
        "date": time.strftime("%F"),
    }


class Bench:
    def __init__(self, args, work):
        self.args, self.work = args, work
        self.venv = os.path.join(args.build, "venv-hdfuse")
        self.programs = {
            n: os.path.join(args.build, where, n) for n, where in (
                ("zrecord", ""), ("zrecordfs", ""), ("nullfs", "bench"),
                ("mount_read", "bench"), ("mount_data", "bench"))}
        self.rows, self.failed, self.points = [], False, 0
        self.busy = []  # in each round

    def records(self, label, count, size):
        return Records(label, max(16, round(count * self.args.scale)), size,
                       self.work, self.programs, self.venv)

    def wants(self, set_, target, case):
        text = f"{set_.label} {target.name} {case}"
        return all(w in text for w in self.args.only)

    def drop(self, set_, target, why):
        """It is not measured any more. A fault, if it is one of our own."""
        target.why = why
        self.failed |= target.ours or target.null
        emit(set=set_.label, fs=target.name, why=why)

    def mounted(self, set_, target, measure):
        """Returns what measure(tree) does in a mount of its own, or None."""
        self.points += 1  # no name twice: processes are found by it
        point = os.path.join(self.work, f"mnt{self.points}.")
        try:
            took = target.mount(point)
            try:
                values = measure(os.path.join(point, target.tree))
            finally:
                left = target.unmount(point)
            return {**values, "mount_s": took, "unmount_s": left}
        except (Refused, OSError) as e:
            self.drop(set_, target, str(e))
            return None

    def note(self, set_, target, case, round_, measure):
        values = self.mounted(set_, target, measure)
        if values:
            row = {"set": set_.label, "fs": target.name, "case": case,
                   "round": round_, **values}
            self.rows.append(row)
            emit(**row)

    def read(self, *arguments):
        return json.loads(run(self.programs["mount_read"], *arguments,
                              timeout=PASS_SECONDS * 4 + 60))

    # ---- Cases: each returns what it measured of a mounted tree -----------

    def files(self, tree, set_, count, arguments, round_):
        extra = {"-r": [str(round_ + 1)], "-g": [str(count)]}
        v = self.read("-s", str(PASS_SECONDS),
                      *(w for a in arguments for w in [a, *extra.get(a, [])]),
                      tree + "/records")
        if v["names"] != count or v["bytes"] != v["files"] * set_.file_bytes:
            raise Refused(f"{v['names']} names, {v['bytes']} bytes in "
                          f"{v['files']} files")
        return v

    def stream(self, tree, read_ahead):
        if read_ahead:
            dev = os.stat(tree).st_dev
            with open(f"/sys/class/bdi/{os.major(dev)}:{os.minor(dev)}/"
                      "read_ahead_kb", "w", encoding="utf-8") as f:
                f.write(str(read_ahead))
        return self.read("-f", "-s", str(PASS_SECONDS), tree + "/all.npy")

    def ls_l(self, tree, count):
        v = {}
        for key in "first_us_a_name", "second_us_a_name":
            start = time.monotonic()
            listed = run("ls", "-l", tree + "/records")
            v[key] = (time.monotonic() - start) * 1e6 / count
            if len(listed.splitlines()) != count + 1:
                raise Refused("`ls -l` did not print each name")
        return v

    def names(self, tree, count):
        def memory(key):
            pid = mount_targets.processes(os.path.normpath(tree))[0]
            with open(f"/proc/{pid}/status", encoding="utf-8") as f:
                return int(re.search(key + r":\s+(\d+) kB", f.read())[1]) / 1024

        v = {"mounted_MiB": memory("VmRSS")}
        for key in "list_s", "list_again_s":
            one = self.read("-n", "0", tree + "/records")
            v[key] = one["list_s"]
            if one["names"] != count:
                raise Refused(f"{one['names']} names of {count}")
        return {**v, "VmHWM_MiB": memory("VmHWM")}

    def command(self, tree, key, command):
        """Of all names, in a fresh mount."""
        start = time.monotonic()
        run("sh", "-c", command + " > /dev/null", "-", tree + "/records",
            timeout=180)
        return {key: time.monotonic() - start}

    # ---- Before anything is timed -----------------------------------------

    def verify(self, set_, targets):
        want = {}

        def sums(tree, target):
            count = target.count or set_.count
            v = self.read("-1", "-c", "-g", str(count), tree + "/records")
            large = None if target.slow else \
                self.read("-f", "-c", tree + "/all.npy")["sum"]
            return {"records": v["sum"], "large": large}

        def wanted(count):
            if count not in want:
                v = self.read("-1", "-c", "-g", str(count),
                              set_.path("tree/records"))
                large = self.read("-f", "-c", set_.path("tree/all.npy"))
                want[count] = v["sum"], (large["sum"], None)
            return want[count]

        for t in targets:
            if t.why or t.null:
                continue
            v = self.mounted(set_, t, lambda tree: sums(tree, t))
            records, large = wanted(t.count or set_.count)
            if v and (v["records"] != records or v["large"] not in large):
                self.drop(set_, t, "other contents than the files")

    def snapshot(self, tree):
        time.sleep(.15)  # the kernel keeps what it has read for a while
        for name in "stats.json", "info.json":
            try:
                with open(os.path.join(tree, name), encoding="utf-8") as f:
                    v = json.load(f)
                return {**v["requests"], "pushed": v["pushed_records"]}
            except (FileNotFoundError, KeyError):
                pass
        raise Refused("its driver counts no requests")

    def requests(self, tree, count, arguments):
        """For each file. To ask for the numbers takes requests as well."""
        self.read("-n", "0", tree + "/records")
        a, b = [self.snapshot(tree) for _ in range(3)][1:]
        self.read("-1", *arguments, tree + "/records")
        c = self.snapshot(tree)
        listing = {"readdir", "readdirplus", "forget", "open"}
        return {k: ((c[k] - b[k]) - (b[k] - a[k])) / count
                for k in c if k not in listing}

    def prepare(self, set_, targets, tree):
        progress(f"making {set_.label}")
        set_.make(("raw", "zstd") if tree else ["raw"], tree)
        for t in targets:
            if t.prepare:
                try:
                    t.prepare()
                except Refused as e:
                    self.drop(set_, t, str(e))
        if not tree:
            return
        self.verify(set_, targets)
        for t in targets:
            for case, arguments in COUNTED.items():
                if t.ours and not t.why:
                    self.note(set_, t, "requests " + case, 0,
                              lambda tree: self.requests(tree, set_.count,
                                                         arguments))

    # ---- Rounds -----------------------------------------------------------

    def common_jobs(self, set_):
        for case, arguments in READS.items():
            yield case, lambda tree, t, r, a=arguments: self.files(
                tree, set_, t.count or set_.count, a, r)
        for case, kib in STREAMS.items():
            if not kib or mount_targets.ROOT:
                yield case, lambda tree, t, r, kib=kib: self.stream(tree, kib)
        yield "ls -l", lambda tree, t, r: self.ls_l(tree, t.count or set_.count)

    def names_jobs(self, set_):
        yield "names", lambda tree, t, r: self.names(tree, set_.count)
        for key, command in NAMES.items():
            yield "names", lambda tree, t, r, k=key, c=command: self.command(
                tree, k, c)

    def ls_jobs(self, set_):
        yield "ls -l", lambda tree, t, r: self.ls_l(tree, set_.count)

    def plan(self):
        """Sets, their targets and jobs, as far as they are wanted."""
        small = self.records("4 KiB", 8000, 4096)
        large = self.records("147 KiB", 600, 150528)
        many = self.records("10^6 names", 1000000, 64)
        some = self.records("10^5 names", 100000, 64)
        for set_, targets, jobs in (
                (small, small.all_targets(), self.common_jobs(small)),
                (large, large.all_targets(), self.common_jobs(large)),
                (many, [many.null(False), many.zrecordfs("raw")],
                 self.names_jobs(many)),
                (some, [some.null(False), some.null(True),
                        some.zrecordfs("raw"), some.zrecordfs("raw", "push=off")],
                 self.ls_jobs(some))):
            jobs = list(jobs)
            targets = [t for t in targets
                       if any(self.wants(set_, t, c) for c, _ in jobs)]
            if targets:
                yield set_, targets, jobs

    def round(self, round_, set_, targets, jobs):
        for case, job in jobs:
            k = round_ % len(targets)
            for t in targets[k:] + targets[:k]:
                if t.why or not self.wants(set_, t, case) or \
                   (t.slow and (round_ or case not in SLOW_TOO)) or \
                   (not t.command and STREAMS.get(case)):
                    continue
                progress(f"round {round_ + 1}: {set_.label}, {t.name}, {case}")
                self.note(set_, t, case, round_,
                          lambda tree: job(tree, t, round_))

    def run(self):
        emit(**machine(self.args, self.venv))
        plan = list(self.plan())
        for set_, targets, _ in plan:
            self.prepare(set_, targets, set_.size > 64)
        for r in range(self.args.rounds):
            self.busy.append((os.getloadavg()[0], available_mib()))
            emit(round=r, load=self.busy[-1][0], available_mib=self.busy[-1][1])
            for entry in plan:
                self.round(r, *entry)
        progress("")
        self.print_tables(plan)

    def print_tables(self, plan):
        print("\nMedians of rounds with a load and MiB to spare of " +
              ", ".join(f"{load:.1f} and {mib}" for load, mib in self.busy) +
              ".")
        m = mount_tables.Medians(self.rows)
        for set_, targets, jobs in plan:
            cases = [c for c, _ in jobs if any(self.wants(set_, t, c)
                                               for t in targets)]
            if "names" in cases:
                mount_tables.names(m, set_, targets)
            elif len(jobs) == 1:
                mount_tables.ls_l(m, set_, targets)
            else:
                reading = [c for c in cases if c in READS]
                if reading:
                    mount_tables.reads(m, set_, targets, reading)
                mount_tables.others(m, set_, targets, list(STREAMS))
                mount_tables.requests(m, set_, targets)


def stop(signal_number, frame):
    raise KeyboardInterrupt


def main():
    if {"-h", "--help"} & set(sys.argv):
        sys.exit(print(__doc__.strip()))
    p = argparse.ArgumentParser(add_help=False)
    p.add_argument("--build", default="build")
    p.add_argument("--scale", type=float, default=1)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--only", action="append", default=[])
    p.add_argument("--install", action="store_true")
    args = p.parse_args()
    args.build = os.path.abspath(args.build)
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    os.environ["LC_ALL"] = "C"
    for s in signal.SIGTERM, signal.SIGHUP:
        signal.signal(s, stop)
    work = None
    try:
        if args.install:
            mount_targets.install(os.path.join(args.build, "venv-hdfuse"))
        work = os.path.realpath(tempfile.mkdtemp(prefix="bench-mount.",
                                                 dir=args.build))
        bench = Bench(args, work)
        bench.run()
        return bench.failed
    except KeyboardInterrupt:
        sys.exit("\nstopped")
    finally:
        for s in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            signal.signal(s, signal.SIG_IGN)
        if work:
            mount_targets.take_down(work)
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
