#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The units of packaging/systemd and the fstab lines of docs/MOUNT.md: systemd
takes them, mount(8) takes their options, the service mounts and unmounts."""
import configparser
import fcntl
import os
import shlex
import threading

# The folder of a test run is closed to other users.
os.environ["TMPDIR"] = "/tmp"
from parts import *

UNITS = os.path.join(os.environ["TOP"], "packaging", "systemd")
SERVICE = "zrecordfs@.service"
NAMES = (SERVICE, "mnt-train.automount", "mnt-train.mount")
rows = np.arange(600, dtype="<i4").reshape(300, 2)
os.mkdir(f"{WORK}/data")
C = make_dense("data/train.zr", rows)


def unit(name):
    parser = configparser.ConfigParser(interpolation=None, delimiters="=",
                                       comment_prefixes="#")
    parser.optionxform = str
    with open(f"{UNITS}/{name}", encoding="ascii") as f:
        parser.read_file(f)
    return parser


def copies(folder, change=lambda text: text):
    """The units, with the program that is tested in them."""
    os.mkdir(folder)
    for name in NAMES:
        text = read(f"{UNITS}/{name}").decode()
        with open(f"{folder}/{name}", "w", encoding="ascii") as f:
            f.write(change(text.replace("=zrecordfs ", f"={FS} ")))
    return [f"{folder}/{name}" for name in NAMES]


@part("systemd-analyze verify")
def verify():
    if not shutil.which("systemd-analyze"):
        raise Skip("there is no systemd-analyze here")

    def said(files):
        # Of other units of this machine too, which are none of ours.
        p = quiet("systemd-analyze", "verify", "--man=no", *files)
        return p.returncode, [row for row in p.stderr.splitlines() if any(
            word in row for word in ("zrecord", "mnt-train", WORK))]
    check(said(copies(f"{WORK}/units")) == (0, []), said(
        [f"{WORK}/units/{name}" for name in NAMES]))
    for i, (a, b) in enumerate((("KillMode=", "KillMod="),
                                ("Where=/mnt/", "Where=/srv/"))):
        check(said(copies(f"{WORK}/wrong{i}", lambda text: text.replace(a, b)))
              != (0, []), f"{b} is not seen")


@part("the mount of the service is for all to see")
def no_namespace():
    service = unit(SERVICE)["Service"]
    for key in service:
        check(not key.startswith(("Private", "Protect", "Mount", "Bind",
                                  "Root", "Dynamic", "TemporaryFile",
                                  "ReadOnly", "ReadWrite", "Inaccessible",
                                  "NoExec", "Exec")) or
              key in ("ExecStart", "ExecStartPre", "ExecStartPost"), key)
    check(service["KillMode"] == "mixed", service["KillMode"])


def command(key, **specifiers):
    """A command of the service, with folders of ours in place of /data and
    /mnt."""
    line = unit(SERVICE)["Service"][key].lstrip("-").replace("%i", "train")
    line = line.replace("\\\n", " ")
    for name, value in specifiers.items():
        line = line.replace(f"${name}", value)
    args = [a.replace("/data/", f"{WORK}/data/").replace(
        "/mnt/", f"{WORK}/mnt/") for a in shlex.split(line)]
    return [FS if a == "zrecordfs" else a for a in args]


POINT = f"{WORK}/mnt/train"


def start(container=C):
    check(quiet(*command("ExecStartPre")).returncode == 0, "ExecStartPre")
    args = command("ExecStart")
    check(args[:2] == [FS, "-f"] and args[-2:] == [C, POINT], args)
    args[-2] = container
    p = subprocess.Popen(args, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    # As systemd does: a process that ended is there until it is waited for.
    threading.Thread(target=p.wait, daemon=True).start()
    return p, quiet(*command("ExecStartPost", MAINPID=str(p.pid))).returncode


@atexit.register
def clear():
    if is_mounted(POINT):
        quiet("fusermount3", "-uz", POINT)


@part("the service mounts, and SIGTERM unmounts")
def service():
    os.mkdir(f"{WORK}/mnt")
    # KillMode=mixed: the driver alone is told; it may be gone before its
    # second process has unmounted, or not.
    for _ in range(5):
        p, post = start()
        check(post == 0 and is_mounted(POINT), f"ExecStartPost: {post}")
        check(read(f"{POINT}/records/000007.npy") == npy(rows[7]), "bytes")
        p.terminate()
        check(p.wait(PATIENCE) == 0, f"{p.returncode}: {p.stderr.read()}")
        check(not is_mounted(POINT), "still mounted")
        check(wait_until(lambda: not drivers(POINT)), "a process stays")


@part("the service ends if the driver does, and starts again after it died")
def restart():
    p, post = start(f"{WORK}/data/none.zr")
    check(post == 1 and b"none.zr" in p.stderr.read(), f"starts: {post}")
    p, post = start()
    check(post == 0, "start")
    for _ in range(5):
        p.kill()
        p.wait()
        check(is_mounted(POINT), "no dead mount")
        p, post = start()
        check(post == 0 and len(os.listdir(f"{POINT}/records")) == 300,
              "again")
    p.terminate()
    check(p.wait(PATIENCE) == 0 and not is_mounted(POINT), "stop")


# ---- mount(8) -------------------------------------------------------------

# In a view of the file system of its own: mount(8) looks for helpers in /sbin
# alone, and /etc/fstab is what we say. $1 is the user who mounts.
VIEW = r"""
set -eu
cd "$WORK"
chmod 755 .
rm -rf sbin fuse
mkdir sbin
cp -P /sbin/mount.fuse* sbin/ 2>/dev/null || :
cp "$ZRECORDFS" sbin/zrecordfs
ln -s zrecordfs sbin/mount.zrecordfs
chmod -R a+rX sbin data
mount --bind fstab /etc/fstab
mount --bind sbin "$(realpath /sbin)"
export PATH=$WORK/sbin:$PATH
if [ "$1" != 0 ]; then
	mknod -m 666 fuse c 10 229
	mount --bind fuse /dev/fuse
fi
as() {
	setpriv --reuid="$ID" --regid="$ID" --clear-groups "$@" </dev/null
}
ID=$1
. ./script
"""
# That nothing is left is also for the runner to see.
ENDED = r"""
ended() { # POINT
	for i in $(seq 500); do
		pgrep -f "zrecordfs .*$1" >/dev/null || return 0
		sleep 0.02
	done
	return 1
}
"""


def view(script, user=0, fstab=""):
    """What a script says that mounts; `as` runs a command as that user."""
    needs_root()
    if not shutil.which("setpriv"):
        raise Skip("there is no setpriv here")
    for name, text in (("view", VIEW), ("script", ENDED + script),
                       ("fstab", fstab)):
        with open(f"{WORK}/{name}", "w", encoding="ascii") as f:
            f.write(text)
        os.chmod(f.name, 0o644)
    p = quiet("unshare", "-m", "--propagation", "private", "bash",
              f"{WORK}/view", str(user), env=dict(os.environ, WORK=WORK))
    check(p.returncode == 0, f"{p.returncode}: {p.stdout}{p.stderr}")
    return p.stdout


def types():
    """mount(8) runs fuse.zrecordfs by the helper of fuse3."""
    found = ["zrecordfs"]
    if os.path.exists("/sbin/mount.fuse"):
        found.append("fuse.zrecordfs")
    return found


@part("mount(8) takes the options of the mount unit")
def mount_unit():
    section = unit("mnt-train.mount")["Mount"]
    check(unit("mnt-train.automount")["Automount"]["Where"] ==
          section["Where"] == "/mnt/train", "Where")
    check(section["Type"] == "fuse.zrecordfs", section["Type"])
    for fstype in types():
        # The arguments in the order that systemd has.
        out = view(f"""
mkdir -p by.unit
mount "$WORK/data/train.zr" "$WORK/by.unit" -t {fstype} \
	-o {section["Options"]} </dev/null
cmp by.unit/records/000003.npy by.unit/records/3.npy
grep " $WORK/by.unit fuse.zrecordfs " /proc/mounts
if touch by.unit/x 2>/dev/null; then exit 9; fi
umount by.unit
ended by.unit
""")
        got = out.split()[3].split(",")
        check({"ro", "nosuid", "nodev", "allow_other"} <= set(got),
              f"{fstype}: {got}")
        try:
            view(f"""
mkdir -p by.unit
mount data/train.zr by.unit -t {fstype} -o {section["Options"]},nosuch
""")
        except Failed as e:
            check("unknown option 'nosuch'" in str(e), e)
        else:
            fail("any option is taken")


@part("fstab lines of docs/MOUNT.md")
def fstab():
    text = read(os.path.join(os.environ["TOP"], "docs/MOUNT.md")).decode()
    block = text.split("```fstab\n", 1)[1].split("```", 1)[0]
    lines = [row.split() for row in block.splitlines()]
    check(len(lines) > 3 and all(len(row) == 6 for row in lines), block)
    check(any("nofail" in row[3] for row in lines) and
          any("_netdev" in row[3] for row in lines), block)
    for fstype in types():
        for row in lines:
            point = f"{WORK}{row[1]}"
            os.makedirs(point, exist_ok=True)
            user = 65534 if "user" in row[3].split(",") else 0
            os.chown(point, user, user)
            # umount(8) takes down what its own user mounted.
            out = view(f"""
as mount {point}
as cmp {point}/records/000003.npy {point}/records/3.npy
grep " {point} fuse.zrecordfs " /proc/mounts
# Without allow_other not even root reads what another has mounted.
[ $ID = 0 ] || if cat {point}/info.json 2>/dev/null; then exit 9; fi
as umount {point}
ended {point}
""", user, " ".join((C, point, fstype, *row[3:])) + "\n")
            check(("allow_other" in out) == ("allow_other" in row[3]) and
                  " ro," in out, f"{row}: {out}")
            os.rmdir(point)


@part("what cannot be mounted fails, with mount -a too")
def missing():
    point = f"{WORK}/mnt/none"
    os.makedirs(point, exist_ok=True)
    for options in ("ro", "ro,nofail"):
        out = view(f"""
rc=0 all=0
mount {point} </dev/null 2>said || rc=$?
mount -a </dev/null 2>said.all || all=$?
grep -q 'none.zr' said
grep -q 'none.zr' said.all
echo $rc $all
""", 0, f"{WORK}/data/none.zr {point} zrecordfs {options} 0 0\n")
        check(out == "32 32\n", f"{options}: {out}")


@part("what systemd makes of the fstab lines")
def generator():
    program = "/lib/systemd/system-generators/systemd-fstab-generator"
    if not os.path.exists(program):
        raise Skip("there is no systemd here")
    text = read(os.path.join(os.environ["TOP"], "docs/MOUNT.md")).decode()
    block = text.split("```fstab\n", 1)[1].split("```", 1)[0]
    units = f"{WORK}/generated"
    os.mkdir(units)
    with open(f"{WORK}/fstab", "w", encoding="ascii") as f:
        f.write(block + "/data/x.zr /mnt/must zrecordfs ro 0 0\n")
    p = quiet(program, units, units, units,
              env=dict(os.environ, SYSTEMD_FSTAB=f.name))
    if not os.path.exists(f"{units}/mnt-train.mount"):
        raise Skip("this systemd reads no other fstab")
    check(p.returncode == 0, p)

    def wanted(target, how):
        folder = f"{units}/{target}.target.{how}"
        return {n for n in os.listdir(folder) if n.startswith("mnt-")} \
            if os.path.isdir(folder) else set()
    check(wanted("local-fs", "wants") == {"mnt-train.mount",
                                          "mnt-auto.automount"}, "nofail")
    check(wanted("local-fs", "requires") == {"mnt-must.mount"}, "no nofail")
    check(wanted("remote-fs", "wants") == {"mnt-net.mount"} and
          not wanted("remote-fs", "requires"), "_netdev")
    check(os.path.exists(f"{units}/mnt-mine.mount"), "noauto")


@part("an automount: the driver mounts while readers wait for it")
def automount():
    """As systemd's: only its process group may reach the mount point."""
    needs_root()
    with open("/proc/filesystems", encoding="ascii") as f:
        if "\tautofs\n" not in f.read():
            raise Skip("this kernel has no autofs")
    point = f"{WORK}/mnt/auto"
    os.makedirs(point, exist_ok=True)
    told, tell = os.pipe()
    os.set_inheritable(tell, True)
    p = quiet("mount", "-i", "-t", "autofs", "-o", f"fd={tell},pgrp="
              f"{os.getpgrp()},minproto=5,maxproto=5,direct", "test", point,
              pass_fds=(tell,))
    if p.returncode:
        raise Skip(f"no autofs: {p.stderr}")
    os.close(tell)
    atexit.register(quiet, "umount", "-l", point)
    root = os.open(point, os.O_RDONLY)
    reader = subprocess.Popen(["cat", f"{point}/records/000003.npy"],
                              stdout=subprocess.PIPE, start_new_session=True)
    packet = os.read(told, 4096)
    try:
        check(quiet(FS, "-o", "preload", C, point, timeout=20).returncode == 0,
              "mount")
    finally:
        # AUTOFS_IOC_READY, or the reader would wait on.
        fcntl.ioctl(root, 0x9360, struct.unpack_from("<I", packet, 8)[0])
        out = reader.communicate(timeout=20)[0]
    check(out == npy(rows[3]), "what the reader got")
    pid = driver_of(point)
    check(os.getsid(pid) == pid, "is in a session of ours")
    os.kill(pid, signal.SIGTERM)
    check(wait_until(lambda: not drivers(point)), "the driver stays")
    os.close(root)
    check(quiet("umount", point).returncode == 0, "umount")
