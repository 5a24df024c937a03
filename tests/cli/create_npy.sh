#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# create from .npy files: every dtype and shape comes back byte for byte.
. "$(dirname "$0")/count.sh"

# round DESCR SHAPE [HOW] [OPTION...]: create, read, compare.
round() {
	local descr=$1 shape=$2 how=${3:-} options=("${@:4}")

	rm -rf c.zr
	make pair a.npy want "$descr" "$shape" ${how:+"$how"}
	done_well "$ZRECORD" create "${options[@]}" c.zr a.npy || return
	done_well "$ZRECORD" cat --as npy c.zr : || return
	cmp -s .out want || failed "$descr $shape $how ${options[*]}"
}

for descr in '|b1' '|i1' '|u1' '<i2' '>i2' '<u4' '<i8' '>u8' '<f2' '<f4' \
	'>f8' '<f16' '<c8' '>c16' '<M8[ns]' '<m8[25s]' '|S5' '<U3' '>U2' \
	'|V6'; do
	round "$descr" 7,3
done
for shape in 1 5 300 6,1 4,2,3 3,1,1,1 2,2,2,2,2,2 1,64,64; do
	round '<i4' $shape
	round '<i4' $shape fortran
	round '<i4' $shape '' --ragged
	round '<i4' $shape fortran --ragged --codec zstd
done
for descr in '|u1' '>i2' '<f4' '<c8' '<c16' '|V6' '<U3'; do
	round "$descr" 50,6,5 fortran
done
round '<i4' 40,3 v2
round '<i4' 40,3 pad16
# More than one batch, and records larger than one.
round '|u1' 20,1000003
round '<f4' 300,100,100 fortran
round '|u1' 3,9000000
round '|u1' 3,3000,1000 fortran
round '|u1' 20000
round '<i4' 300,20 '' --codec zstd
round '<i4' 300,20 '' --codec zstd --level 9 -j 1
round '<i4' 300,20 '' --codec zstd --level -5 -j 3
round '<i4' 300,20 '' --codec raw -j 2
rm -rf c.zr
make npy a.npy '<i4' 5,3
make npy z.npy '<i4' 3000000

# The default codec and kind.
done_well "$ZRECORD" create c.zr a.npy
has c.zr codec raw
has c.zr kind dense
has c.zr item_shape '[3]'
has c.zr records 5
rm -r c.zr
done_well "$ZRECORD" create --ragged c.zr a.npy
has c.zr kind ragged
rm -r c.zr

rm -rf c.zr
# Empty containers are legal.
for shape in 0 0,3 0,2,2; do
	for how in '' fortran; do
		make npy e.npy '<f4' $shape $how
		done_well "$ZRECORD" create c.zr e.npy
		has c.zr records 0
		done_well "$ZRECORD" verify c.zr
		done_well "$ZRECORD" export c.zr got
		[ -d got ] && [ -z "$(ls got)" ] || failed "export of nothing"
		rm -r c.zr got
	done
done

# Several files are one after the other, in the order given.
make npy b.npy '<i4' 4,3
make npy e.npy '<i4' 0,3
make npy f.npy '<i4' 2000000,3 fortran
done_well "$ZRECORD" create c.zr b.npy e.npy a.npy f.npy b.npy
has c.zr records 2000013
make rows wb '<i4' 4,3
make rows wa '<i4' 5,3
done_well "$ZRECORD" export --select 4:9 c.zr got
for i in 0 1 2 3 4; do
	same "several files" wa/00000$i.npy got/000000$((i + 4)).npy
done
rm -rf got
done_well "$ZRECORD" export --select 2000009: c.zr got
for i in 0 1 2 3; do
	same "several files" wb/00000$i.npy got/$((2000009 + i)).npy
done
rm -rf c.zr got
refused 1 "z\.npy" "$ZRECORD" create c.zr a.npy z.npy
make npy d.npy '>i4' 5,3
refused 1 "d\.npy.*i4" "$ZRECORD" create c.zr a.npy d.npy

# Fortran order is read in blocks: the same bytes, and memory that is bounded.
cat >order.py <<'P'
import array, resource, struct, subprocess, sys
rows, cols = 2400000, 10
def head(fortran):
    t = (b"{'descr': '<u4', 'fortran_order': %s, 'shape': (%d, %d), }" %
         (str(fortran).encode(), rows, cols))
    t += b" " * (117 - len(t)) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(t)) + t
with open("order_c.npy", "wb") as c, open("order_f.npy", "wb") as f:
    c.write(head(False))
    f.write(head(True))
    for i in range(0, rows * cols, 1 << 20):
        array.array("I", range(i, min(i + (1 << 20), rows * cols))).tofile(c)
    for i in range(cols):
        array.array("I", range(i, rows * cols, cols)).tofile(f)
for dst, src in (("f1", "order_f.npy"), ("f2", "-")):
    with open("order_f.npy", "rb") as f:
        data = None if src != "-" else f.read()
    subprocess.run([sys.argv[1], "create", "-q", "-j1", dst, src], input=data,
                   check=True)
    if dst == "f1":
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
P
kib=$("$PYTHON" order.py "$ZRECORD") || failed "order.py"
ldd "$ZRECORD" | grep -q asan || [ "$kib" -lt 65536 ] ||
	failed "96 MB in Fortran order took $kib KiB"
done_well "$ZRECORD" create c.zr order_c.npy
for dst in f1 f2; do
	cmp c.zr/data.zr $dst/data.zr || failed "Fortran order, $dst"
done
rm -r c.zr f1 f2 order*

# A file that is another one when it is read than when it was looked at.
cat >shim.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int open(const char *path, int flags, int mode)
{
	static int n;

	if (!strcmp(path, "seen.npy") && n++)
		path = "then.npy";
	return ((int (*)(const char *, int, int))dlsym(RTLD_NEXT, "open"))(
		path, flags, mode);
}
int open64(const char *path, int flags, int mode)
{
	return open(path, flags, mode);
}
C
if ! ldd "$ZRECORD" | grep -q asan &&
	${CC:-cc} -shared -fPIC -w shim.c -o shim.so -ldl 2>/dev/null; then
	make npy seen.npy '<i4' 5,3
	for then in '<u4 5,3' '<i4 5,4' '<i4 15'; do
		# shellcheck disable=SC2086
		make npy then.npy $then
		refused 1 "seen\.npy: changed while it was read" \
			env LD_PRELOAD="$PWD/shim.so" "$ZRECORD" create c.zr seen.npy
	done
fi

# What cannot be: the path, and why.
make npy s.npy '<i4' -
refused 1 "s\.npy.*0-d" "$ZRECORD" create c.zr s.npy
refused 1 "s\.npy.*0-d" "$ZRECORD" create --ragged c.zr s.npy
make npy n.npy '<i4' 5,0
refused 1 "n\.npy" "$ZRECORD" create c.zr n.npy
refused 1 "n\.npy" "$ZRECORD" create --ragged c.zr n.npy
refused 1 "none\.npy.*[Nn]o such file" "$ZRECORD" create c.zr none.npy
head -c -1 a.npy >short.npy
refused 1 "short\.npy.*(59|187)" "$ZRECORD" create c.zr short.npy
(cat a.npy; echo) >long.npy
refused 1 "long\.npy.*(61|189)" "$ZRECORD" create c.zr long.npy
head -c 128 a.npy >bare.npy
refused 1 "bare\.npy" "$ZRECORD" create c.zr bare.npy
for bytes in 0 1 5 6 8 10 11 12 50 127; do
	head -c $bytes a.npy >cut.npy
	refused 1 "cut\.npy" "$ZRECORD" create c.zr cut.npy
done
echo 'hello, world: not an array' >text.npy
refused 1 "text\.npy: not a \.npy file.*--lines" "$ZRECORD" create c.zr text.npy
echo hi >text.npy
refused 1 "text\.npy: not a \.npy file.*--lines" "$ZRECORD" create c.zr text.npy
: >empty.npy
refused 1 "empty\.npy: .*empty" "$ZRECORD" create c.zr empty.npy
gzip -c a.npy >gz.npy
refused 1 "gz\.npy: not a \.npy file but gzip" "$ZRECORD" create c.zr gz.npy
make header o.npy "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }" 00
refused 1 "o\.npy.*object" "$ZRECORD" create c.zr o.npy
make header st.npy "{'descr': [('a', '<i4')], 'fortran_order': False, \
'shape': (2,), }" 0000000000000000
refused 1 "st\.npy.*struct" "$ZRECORD" create c.zr st.npy
make header big.npy "{'descr': '<i4', 'fortran_order': False, \
'shape': (4294967296, 4294967296), }"
refused 1 "big\.npy" "$ZRECORD" create c.zr big.npy
make header huge.npy "{'descr': '<i4', 'fortran_order': False, \
'shape': (1, 4611686018427387904), }"
refused 1 "huge\.npy" "$ZRECORD" create c.zr huge.npy
make header neg.npy "{'descr': '<i4', 'fortran_order': False, 'shape': (-1,), }"
refused 1 "neg\.npy" "$ZRECORD" create c.zr neg.npy
make header wide.npy "{'descr': '|u1', 'fortran_order': False, \
'shape': (0, 3000000000), }"
refused 1 "c\.zr|wide\.npy" "$ZRECORD" create c.zr wide.npy
mkdir sub
refused 1 "sub" "$ZRECORD" create c.zr a.npy sub
refused 1 "c/d\.zr" "$ZRECORD" create c/d.zr a.npy
if [ "$(id -u)" != 0 ]; then
	cp a.npy secret.npy
	chmod 0 secret.npy
	refused 1 "secret\.npy.*denied" "$ZRECORD" create c.zr secret.npy
fi

# An error has only one line, even when a path has two.
cp short.npy 'two
lines.npy'
refused 1 "two.lines" "$ZRECORD" create c.zr 'two
lines.npy'
[ ! -e c.zr ] || failed "an error left c.zr"
nothing_left

# DST is never touched if it exists.
mkdir full empty
: >full/file
: >plain
ln -s nowhere link
for dst in full empty plain link full/ ./full; do
	refused 1 "exists" "$ZRECORD" create $dst a.npy
done
[ -e full/file ] && [ ! -s plain ] && [ -L link ] && [ ! -e nowhere ] ||
	failed "something that existed was changed"
refused 1 "" "$ZRECORD" create . a.npy
refused 1 "" "$ZRECORD" create '' a.npy
done_well "$ZRECORD" create 'a new name/' a.npy 2>/dev/null
[ -f 'a new name/meta.zr' ] || failed "a trailing slash"
nothing_left
finish
