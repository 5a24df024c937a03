#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# create from .npz: stored and deflated members, and zips that lie.
. "$(dirname "$0")/count.sh"

# One member: its axis 0 is the records.
for flags in '' +d +64 +d+64 +F +F+d; do
	for shape in 40,5,3 300,2000; do
		make npz a.npz '<i4' $shape$flags
		make rows want '<i4' $shape
		done_well "$ZRECORD" create c.zr a.npz &&
			done_well "$ZRECORD" export c.zr got &&
			same "one member $shape $flags" want got
		rm -rf c.zr got want
	done
done
make npz a.npz '<i4' 9,3+d
done_well "$ZRECORD" create --ragged c.zr a.npz
has c.zr kind ragged
has c.zr records 9
rm -r c.zr
make npz a.npz '<i4' -
refused 1 "a\.npz.*0-d" "$ZRECORD" create c.zr a.npz
make npz a.npz '<i4' 0,4+d
done_well "$ZRECORD" create c.zr a.npz
has c.zr records 0
rm -r c.zr

# Several: one record each, in the order of the archive.
for flags in '' +d +64 +d+64; do
	make npz a.npz '>f8' 2,3$flags -$flags 5$flags 3000,400$flags 1,1,1$flags
	make each want '>f8' 2,3 - 5 3000,400 1,1,1
	done_well "$ZRECORD" create --codec zstd c.zr a.npz &&
		has c.zr kind ragged &&
		done_well "$ZRECORD" export c.zr got &&
		same "several members $flags" want got
	rm -rf c.zr got want
done
make npz a.npz '<i2' 2,3,4+F 2,3,4+F+d
make each want '<i2' 2,3,4 2,3,4
done_well "$ZRECORD" create c.zr a.npz
has c.zr kind dense
done_well "$ZRECORD" export c.zr got
same "Fortran members" want got
rm -rf c.zr got want

# More than 65535 members need zip64, as ours export writes it.
"$PYTHON" - <<'P'
import zipfile
head = b"\x93NUMPY\x01\x00\x76\x00" + (
    b"{'descr': '<i8', 'fortran_order': False, 'shape': (), }" + b" " * 62 +
    b"\n")
for n in (65535, 70000):
    with zipfile.ZipFile(f"many{n}.npz", "w") as z:
        for i in range(n):
            z.writestr(f"arr_{i}.npy", head + i.to_bytes(8, "little"))
P
# 65535 is the most without it.
done_well "$ZRECORD" create c.zr many65535.npz
has c.zr records 65535
rm -rf c.zr
done_well "$ZRECORD" create c.zr many70000.npz
has c.zr records 70000
done_well "$ZRECORD" cat c.zr 0,65535,65536,69999
says "70000 members" "0
65535
65536
69999"
rm -rf c.zr

# Damage of any byte is an error or does no harm; never another record.
make npz a.npz '<i4' 3,2 4+d 2,2
make each want '<i4' 3,2 4 2,2
cat want/* >all
"$PYTHON" - <<'P'
import random
data = open("a.npz", "rb").read()
rng = random.Random(1)
places = list(range(len(data)))
# The directory and some of the rest.
keep = [p for p in places if p >= len(data) - 260 and p % 2] + \
    rng.sample(places, 60)
with open("list", "w") as f:
    for i, p in enumerate(keep):
        bad = bytearray(data)
        bad[p] ^= rng.choice((1, 0x80, 0xff))
        name = f"bad{i}.npz"
        open(name, "wb").write(bad)
        print(name, file=f)
    for i, n in enumerate(rng.sample(range(len(data)), 20)):
        name = f"cut{i}.npz"
        open(name, "wb").write(data[:n])
        print(name, file=f)
P
while read -r name; do
	timeout 20 "$ZRECORD" create c.zr "$name" >.out 2>.err </dev/null
	case $? in
	0)
		# A name or a time may be another; the records may not.
		"$ZRECORD" cat --as npy c.zr : 2>/dev/null | cmp -s - all ||
			failed "$name: other records were taken"
		;;
	1)
		[ "$(wc -l <.err)" = 1 ] && grep -q "^zrecord: .*$name" .err ||
			failed "$name: $(head -c 300 .err)"
		;;
	*) failed "$name: exit status $?, $(head -c 300 .err)" ;;
	esac
	rm -rf c.zr
done <list

# What cannot be.
"$PYTHON" - <<'P'
import struct, zipfile
a = open("a.npz", "rb").read()
with zipfile.ZipFile("text.npz", "w") as z:
    z.writestr("notes.txt", "hello")
with zipfile.ZipFile("none.npz", "w"):
    pass
with zipfile.ZipFile("bz2.npz", "w", zipfile.ZIP_BZIP2) as z:
    z.writestr("arr_0.npy", b"x" * 999)
npy = zipfile.ZipFile("a.npz").read("arr_0.npy")
with zipfile.ZipFile("short.npz", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("arr_0.npy", npy[:-1])
    z.writestr("arr_1.npy", npy)
with zipfile.ZipFile("long.npz", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("arr_0.npy", npy + b"x")
    z.writestr("arr_1.npy", npy)
with zipfile.ZipFile("types.npz", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("arr_0.npy", npy)
    z.writestr("other.npy", npy.replace(b"<i4", b"<u4"))
# The directory's CRC of the first member.
bad = bytearray(a)
at = a.index(b"PK\1\2")
bad[at + 16] ^= 1
open("crc.npz", "wb").write(bad)
# A member that says it is 4 GiB.
bad = bytearray(a)
bad[at + 20:at + 28] = struct.pack("<II", 0xfffffff0, 0xfffffff0)
open("size.npz", "wb").write(bad)
# Encrypted.
bad = bytearray(a)
bad[at + 8] |= 1
open("secret.npz", "wb").write(bad)
# Two of one name.
import warnings
warnings.simplefilter("ignore")
with zipfile.ZipFile("twice.npz", "w") as z:
    for name in ("a", "b", "a"):
        z.writestr(name + ".npy", npy)
# One of many is wrong.
with zipfile.ZipFile("one.npz", "w") as z:
    for i in range(100):
        z.writestr(f"arr_{i}.npy", npy + b"x" * (i == 77))
# A directory that says it is at the end of time.
end = a.rindex(b"PK\5\6")
bad = bytearray(a)
bad[end + 16:end + 20] = struct.pack("<I", 0xfffffffe)
open("far.npz", "wb").write(bad)
# Deflated: 1 GiB of zeros that claims to be 64 bytes more than the array.
P
for name in text none bz2 short long types crc size secret far; do
	refused 1 "$name\.npz" "$ZRECORD" create c.zr $name.npz
done
refused 1 "notes\.txt" "$ZRECORD" create c.zr text.npz
refused 1 "other\.npy.*u4" "$ZRECORD" create c.zr types.npz
refused 1 "arr_0\.npy" "$ZRECORD" create c.zr crc.npz
refused 1 "twice\.npz:a\.npy.*two" "$ZRECORD" create c.zr twice.npz
refused 1 "one\.npz:arr_77\.npy.*1 bytes more" "$ZRECORD" create c.zr one.npz
refused 1 "short\.npz:arr_0\.npy.*early" "$ZRECORD" create c.zr short.npz
refused 1 "bz2\.npz:arr_0\.npy" "$ZRECORD" create c.zr bz2.npz
refused 1 "secret\.npz:arr_0\.npy.*encrypted" "$ZRECORD" create c.zr secret.npz
mkfifo fifo.npz
refused 1 "fifo\.npz.*regular" timeout 20 "$ZRECORD" create c.zr fifo.npz
refused 1 "" "$ZRECORD" create c.zr a.npz a.npz
[ ! -e c.zr ] || failed "an error left c.zr"
nothing_left
finish
