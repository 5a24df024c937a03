#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# export as a folder, an array and an archive.
. "$(dirname "$0")/count.sh"

golden=$DATA/golden
make npy a.npy '<i4' 12,2,3
make rows want '<i4' 12,2,3
make each mixed '>f8' 2,3 - 5 300,400
done_well "$ZRECORD" create --codec zstd a.zr a.npy
done_well "$ZRECORD" create --codec zstd m.zr mixed

done_well "$ZRECORD" export a.zr got
same "export" want got
done_well "$ZRECORD" export --as dir m.zr gotm
same "export of Ragged" mixed gotm
rm -rf got gotm
done_well "$ZRECORD" export --as npy a.zr got.npy
same "export --as npy" a.npy got.npy
rm got.npy
done_well "$ZRECORD" export --as npz a.zr got.npz
make npzrows got got.npz
same "export --as npz" want got
rm -r got got.npz
done_well "$ZRECORD" export --as npz m.zr got.npz
make npzrows got got.npz
same "export of Ragged --as npz" mixed got
rm -r got got.npz
refused 1 "npz" "$ZRECORD" export --as npy m.zr got.npy

# The name says what is made, or does not and --as is asked for.
for dst in e.csv e.TXT e.json e.parquet e.tar.gz e.zip e.h5; do
	refused 2 "$dst.*no .*--as.*zrecord cat" "$ZRECORD" export a.zr $dst
done
for as in "dir e.npy" "npz e.npy" "npy e.npz" "dir e.NPZ"; do
	refused 2 "${as#* }.*--as" "$ZRECORD" export --as ${as% *} a.zr ${as#* }
done
[ -z "$(find . -name 'e.*')" ] || failed "a name that is refused was made"
done_well "$ZRECORD" export --as npz a.zr e.zip
done_well "$ZRECORD" export --as dir a.zr e.csv
done_well "$ZRECORD" export a.zr v1.2
same "a dot in the name of a directory" want v1.2
rm -r e.zip e.csv v1.2
# What was made is told, in one line.
told() { # TEXT OPTION...
	local text=$1
	shift
	"$ZRECORD" export "$@" 2>.err >.out || failed "export $*: $?"
	[ "$(cat .err)" = "$text" ] || failed "export $* says $(cat .err)"
	rm -rf got*
}
told "got: a directory of 12 .npy files" a.zr got
told "got: a directory of 1 .npy file" --select 3,3 a.zr got
told "got.npy: one .npy of 12 records" a.zr got.npy
told "got.npz: one .npz of 1 record" --select 3 a.zr got.npz
told "" -q a.zr got
told "" --as npy a.zr -

# A selection: files have the ids of records, once each; arrays its order.
done_well "$ZRECORD" export --select 11,3,3,0 a.zr got
[ "$(ls got | tr '\n' ' ')" = '000000.npy 000003.npy 000011.npy ' ] ||
	failed "names of a selection: $(ls got)"
for i in 00 03 11; do
	same "a selection" want/0000$i.npy got/0000$i.npy
done
rm -r got
done_well "$ZRECORD" export --as npz --select 11,3,3 a.zr got.npz
make npzrows got got.npz
same "npz of a selection" want/000011.npy got/000000.npy
same "npz of a selection" want/000003.npy got/000002.npy
rm -r got got.npz
done_well "$ZRECORD" export --as npy --select 11,3,3 a.zr got.npy
done_well "$ZRECORD" create g.zr got.npy
done_well "$ZRECORD" export g.zr got
same "npy of a selection" want/000011.npy got/000000.npy
same "npy of a selection" want/000003.npy got/000002.npy
rm -r got got.npy g.zr
done_well "$ZRECORD" export --as npy --select 4:4 a.zr got.npy
head -c 10 got.npy | cmp -s - <(head -c 10 a.npy) || failed "npy of nothing"
done_well "$ZRECORD" create g.zr got.npy
has g.zr records 0
rm -r g.zr got.npy
done_well "$ZRECORD" export --as npz --select 4:4 a.zr got.npz
"$PYTHON" -c 'import sys, zipfile
assert zipfile.ZipFile("got.npz").namelist() == []' || failed "npz of nothing"
rm got.npz
done_well "$ZRECORD" export --as npy "$golden/dense_empty_zstd" got.npy
rm got.npy

# More than 65535 members and names of 7 digits.
"$PYTHON" - <<'P'
text = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1000001,), }"
open("many.npy", "wb").write(
    b"\x93NUMPY\x01\x00\x76\x00" + text.ljust(117) + b"\n" +
    bytes(i % 251 for i in range(1000001)))
P
done_well "$ZRECORD" create many.zr many.npy
done_well "$ZRECORD" export --as npy many.zr got.npy
same "a million records --as npy" many.npy got.npy
done_well "$ZRECORD" export --as npz --select :70000 many.zr got.npz
"$PYTHON" -c '
import zipfile
z = zipfile.ZipFile("got.npz")
assert len(z.namelist()) == 70000 and z.testzip() is None
assert z.read("arr_69999.npy")[-1] == 69999 % 251
' || failed "an npz of 70000"
done_well "$ZRECORD" create z.zr got.npz
done_well "$ZRECORD" cat --as text z.zr 69999
says "an npz of 70000, read back" $((69999 % 251))
rm -rf z.zr got.npz got.npy
done_well "$ZRECORD" export --select 7,1000000 many.zr got
[ "$(ls got | tr '\n' ' ')" = '0000007.npy 1000000.npy ' ] ||
	failed "names of 7 digits: $(ls got)"
rm -rf got

# All of DST or nothing, and nothing that exists is touched.
mkdir full
: >full/file
: >plain
ln -s nowhere link
for as in dir npy npz; do
	for dst in full plain link; do
		refused 1 "$dst.*exists" "$ZRECORD" export --as $as a.zr $dst
	done
	refused 1 "no/where" "$ZRECORD" export --as $as a.zr no/where
done
[ -e full/file ] && [ ! -s plain ] && [ -L link ] && [ ! -e nowhere ] ||
	failed "something that existed was changed"
bad=$DATA/bad/zstd_flip
for as in dir npy npz; do
	refused 1 "zstd_flip.*record [0-9]+" "$ZRECORD" export --as $as \
		"$bad" got
	[ ! -e got ] || failed "export --as $as of a bad one left something"
done
refused 1 "recover" "$ZRECORD" export "$DATA/bad/unpublished" got
nothing_left
finish
