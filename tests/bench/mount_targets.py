# SPDX-License-Identifier: BSD-2-Clause
"""The file systems that `make bench-mount` compares: how each gets the same
records, is mounted and is taken down."""
import os, shutil, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.geteuid() == 0
PATIENCE = 30  # seconds for any mount, unmount and listing


class Refused(Exception):
    """Why something cannot be measured here."""


def run(*cmd, timeout=PATIENCE, **more):
    """Returns what was printed; raises Refused with the reason."""
    try:
        r = subprocess.run(cmd, stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, timeout=timeout, **more)
    except FileNotFoundError:
        raise Refused(f"no {os.path.basename(cmd[0])}")
    except subprocess.TimeoutExpired:
        raise Refused(f"{os.path.basename(cmd[0])}: > {timeout:g} s")
    if r.returncode:
        said = (r.stderr.strip() or r.stdout.strip()).splitlines() or [""]
        raise Refused(f"{os.path.basename(cmd[0])}: {said[-1][:120]}")
    return r.stdout


def is_mounted(point):
    """Asks the kernel, not the mount: that may hang."""
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        return any(line.split()[4] == point for line in f)


def has_argument(pid, text):
    """False for what has ended, also if nobody has asked for its status."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return text.encode() in f.read()
    except OSError:
        return False


def processes(text):
    """Other processes with `text`, a path of ours, in an argument."""
    return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and
            int(pid) != os.getpid() and has_argument(pid, text)]


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(.005)
    return True


class Target:
    """One way to see the records of a set.

    command  mounts at the path that is put after it; None: nothing to mount
    source   the file or folder behind it, which has to be in the page cache
    tree     where records/ is below the mount, or else anywhere
    prepare  makes the source, if not the set does
    count    how many records it shows, if not all of the set
    slow     measured in the first round only, and not in all cases
    """

    def __init__(self, name, command=None, source=None, tree="", prepare=None,
                 count=None, slow=False, null=False, ours=False):
        self.name, self.command, self.source = name, command, source
        self.tree, self.count, self.slow = tree, count, slow
        self.null, self.ours = null, ours
        self.why = None
        self.prepare = prepare

    def is_kernel(self):
        return bool(self.command) and self.command[0] == "mount"

    def warm(self):
        paths = [self.source] if self.source else []
        if self.source and os.path.isdir(self.source):
            paths = [os.path.join(self.source, n)
                     for n in os.listdir(self.source)]
        for path in paths:
            with open(path, "rb", buffering=0) as f:
                while f.read(1 << 20):
                    pass

    def mount(self, point):
        """Returns the seconds that it took."""
        self.warm()
        if not self.command:
            return 0
        os.makedirs(point)
        start = time.monotonic()
        run(*self.command, point)
        took = time.monotonic() - start
        if not wait_until(lambda: is_mounted(point), 5):
            raise Refused("it did not mount")
        return took

    def unmount(self, point):
        """Returns the seconds that it took, with the end of the driver."""
        if not self.command:
            return 0
        start = time.monotonic()
        unmount(point, self.is_kernel())
        return time.monotonic() - start


def unmount(point, kernel):
    command = ["umount"] if kernel else ["fusermount3", "-u"]
    drivers = processes(point)

    def done():
        try:
            run(*command, point)
        except Refused:
            pass
        return not is_mounted(point)

    if not wait_until(done, 5):
        take_down(point)
        raise Refused("it could not be unmounted")
    wait_until(lambda: not any(has_argument(p, point) for p in drivers),
               PATIENCE)


def take_down(directory):
    """Unmount whatever is mounted below a directory of ours, and end what
    still serves it."""
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        rows = [line.split() for line in f]
    points = [r[4] for r in rows if (r[4] + "/").startswith(directory + "/")]
    drivers = processes(directory)
    for point in reversed(points):
        for command in ["fusermount3", "-uz"], ["umount", "-l"]:
            try:
                run(*command, point, timeout=5)
                break
            except Refused:
                pass
    wait_until(lambda: not any(has_argument(p, directory) for p in drivers), 2)
    for pid in drivers:
        if has_argument(pid, directory):
            os.kill(pid, 9)


class Records:
    """Equal records, in all the forms that targets need."""

    def __init__(self, label, count, size, work, programs, venv):
        self.label, self.count, self.size = label, count, size
        self.dir = os.path.join(work, label.replace(" ", ""))
        self.work, self.programs, self.venv = work, programs, venv
        self.file_bytes = 128 + size
        self.large_bytes = 128 + count * size

    def path(self, name):
        return os.path.join(self.dir, name)

    def make(self, codecs, tree):
        """Containers, and (if `tree`) the same as files."""
        p = self.programs
        os.makedirs(self.path("tree"))
        large = self.path("tree/all.npy")
        with open(large, "wb") as f:
            subprocess.run([p["mount_data"], str(self.count), str(self.size)],
                           stdout=f, check=True)
        for codec in codecs:
            run(p["zrecord"], "create", "--codec", codec, self.path(codec),
                large, timeout=600)
        if tree:
            run(p["zrecord"], "export", "--as", "dir", self.path("raw"),
                self.path("tree/records"), timeout=600)

    def zrecordfs(self, codec, option=None):
        return Target(f"zrecordfs {codec}" + (f", {option}" if option else ""),
                      [self.programs["zrecordfs"],
                       *(["-o", option] if option else []), self.path(codec)],
                      self.path(codec), ours=True)

    def null(self, all_told):
        return Target("null" + (", all told" if all_told else ""),
                      [self.programs["nullfs"], *["-p"] * all_told,
                       *map(str, (self.count, self.file_bytes,
                                  self.large_bytes))], null=True)

    def local(self):
        kind = run("stat", "-f", "-c", "%T", self.work).strip()
        return Target(f"files ({kind.replace('ext2/ext3', 'ext4')})",
                      tree=self.path("tree"))

    def image(self, name, make, mount):
        """A file system in a file that the command `make` makes of tree/."""
        image = self.path(f"image.{make[0]}")

        def prepare():
            if mount[0] == "mount" and not ROOT:
                raise Refused("needs root to mount")
            if mount[0] == "mount" and not os.path.exists("/dev/loop-control"):
                raise Refused("no loop devices")
            if not shutil.which(mount[0]):
                raise Refused(f"no {mount[0]}: see --install")
            if not os.path.exists(image):
                run(*[{"IMAGE": image, "TREE": self.path("tree")}.get(w, w)
                      for w in make], timeout=600)

        return Target(name, [*mount, image], image, prepare=prepare)

    def images(self):
        # Files take whole blocks of 4 KiB.
        room = str((self.count * (self.size + 8192) + self.large_bytes) * 5 //
                   4 // 1024 + 8192) + "k"
        ext4 = ["mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-N",
                str(self.count + 64), "-d", "TREE", "IMAGE", room]
        squashfs = ["mksquashfs", "TREE", "IMAGE", "-comp", "zstd",
                    "-Xcompression-level", "3", "-quiet", "-no-progress"]
        erofs = ["mkfs.erofs", "IMAGE", "TREE"]
        loop = ["mount", "-o", "loop,ro", "-t"]
        return [
            self.image("ext4, loop", ext4, [*loop, "ext4"]),
            self.image("erofs, loop", erofs, [*loop, "erofs"]),
            self.image("squashfs, loop", squashfs, [*loop, "squashfs"]),
            self.image("squashfuse_ll", squashfs, ["squashfuse_ll"]),
            self.image("squashfuse", squashfs, ["squashfuse"]),
        ]

    def hdfuse(self):
        """Of the first records only: it opens its file for each request."""
        count = min(self.count, 500)
        python = os.path.join(self.venv, "bin", "python")
        script = os.path.join(HERE, "mount_hdfuse.py")

        def prepare():
            if not os.path.exists(python):
                raise Refused("not installed: see --install")
            os.makedirs(self.path("hdf5"))
            run(python, script, "make", self.path("tree/records"), str(count),
                self.path("hdf5/set.h5"))

        return Target("hdfuse", [python, script, "mount", self.path("hdf5")],
                      self.path("hdf5"), "set.h5", prepare, count, slow=True)

    def all_targets(self):
        return [self.null(False), self.null(True), self.local(),
                *self.images(), self.hdfuse(), self.zrecordfs("raw"),
                self.zrecordfs("raw", "push=off"),
                self.zrecordfs("raw", "threads=1"),
                self.zrecordfs("raw", "threads=8"), self.zrecordfs("zstd"),
                self.zrecordfs("zstd", "push=off"),
                self.zrecordfs("zstd", "threads=8")]


def install(venv):
    """Packages for the peers (Debian), and a Python with hdfuse."""
    subprocess.run(["apt-get", "install", "-y", "squashfuse", "squashfs-tools",
                    "erofs-utils", "libfuse2", "python3-venv"], check=True)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    subprocess.run([os.path.join(venv, "bin", "pip"), "install", "-q",
                    "hdfuse==1.0.2"], check=True)
