#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# create --lines: each line of a text one record of bytes.
. "$(dirname "$0")/count.sh"

# lines_back C FILE: the records of C, a line each, are FILE.
lines_back() {
	"$ZRECORD" export --as npz "$1" got.npz || failed "export of $1"
	"$PYTHON" - got.npz >got.txt <<'P'
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
for name in z.namelist():
    b = z.read(name)
    sys.stdout.buffer.write(b[10 + b[8] + 256 * b[9]:] + b"\n")
P
	cmp -s got.txt "$2" || failed "$1 and $2 differ"
	rm -rf got.npz got.txt "$1"
}

printf 'one\ntwo words\n\303\251\ttab\r\n\001\n' >a.txt
for codec in raw zstd; do
	done_well "$ZRECORD" create --codec $codec c.zr --lines a.txt
	has c.zr kind ragged
	has c.zr dtype '|u1'
	has c.zr records 4
	done_well "$ZRECORD" cat --as raw c.zr 1
	says "a line" "two words"
	lines_back c.zr a.txt
done
done_well "$ZRECORD" create --lines a.txt c.zr
lines_back c.zr a.txt
# The last line need not end.
printf 'one\ntwo' >b.txt
done_well "$ZRECORD" create c.zr --lines b.txt
echo >>b.txt
lines_back c.zr b.txt
: >e.txt
done_well "$ZRECORD" create c.zr --lines e.txt
has c.zr records 0
rm -r c.zr

# An empty line is told by its number, and how to go on.
printf 'one\ntwo\n\nfour\n\n' >gap.txt
refused 1 "gap\.txt.* 3 .*--skip-empty" "$ZRECORD" create c.zr --lines gap.txt
done_well "$ZRECORD" create --skip-empty c.zr --lines gap.txt
printf 'one\ntwo\nfour\n' >want.txt
lines_back c.zr want.txt
printf '\n' >nl.txt
refused 1 "nl\.txt.* 1 .*--skip-empty" "$ZRECORD" create c.zr --lines nl.txt
done_well "$ZRECORD" create --skip-empty c.zr --lines nl.txt
has c.zr records 0
rm -r c.zr

# Long lines, many lines, around the sizes of buffers.
"$PYTHON" - <<'P'
import random
rng = random.Random(3)
sizes = [1 << n for n in range(12, 24)]
with open("long.txt", "wb") as f:
    for s in sizes:
        for d in (-1, 0, 1):
            f.write(bytes([97 + s % 23 + d]) * (s + d) + b"\n")
with open("many.txt", "wb") as f:
    for i in range(20000):
        f.write(b"%d " % i * rng.randrange(1, 20) + b"\n")
P
done_well "$ZRECORD" create c.zr --lines long.txt
lines_back c.zr long.txt
done_well "$ZRECORD" create --codec zstd c.zr --lines many.txt
has c.zr records 20000
lines_back c.zr many.txt
done_well "$ZRECORD" create --codec zstd_dict --tier fast c.zr --lines many.txt
has c.zr records 20000
has c.zr codec zstd_dict
lines_back c.zr many.txt
# As a pipe.
"$ZRECORD" create -q c.zr --lines /dev/stdin <many.txt || failed "/dev/stdin"
lines_back c.zr many.txt
cat many.txt | "$ZRECORD" create -q c.zr --lines /dev/stdin || failed "a pipe"
lines_back c.zr many.txt

# What is no text is refused, by what it is and how to get there.
printf 'one\ntwo\n' >t.txt
gzip -c t.txt >t.gz
refused 1 "t\.gz: gzip.*: zcat t\.gz \| zrecord create --lines - DST" \
	"$ZRECORD" create c.zr --lines t.gz
for magic in '\050\265\057\375:zstdcat' '\3757zXZ\0:xzcat' 'BZh91AY&SY:bzcat' \
	'BZh11AY&SY:bzcat' 'BZh9\027rE8P\220:bzcat' \
	'\377\376\0\0a\0\0\0:iconv -f UTF-32' \
	'\0\0\376\377\0\0\0a:iconv -f UTF-32' \
	'\004"M\030:lz4cat' '\377\376a\0\n\0:iconv' '\376\377\0a\0\n:iconv' \
	'\223NUMPY\001:npy' 'PK\003\004:npz' '\211HDF\r\n\032\n:HDF5' \
	'text\nand a \0 byte\n:byte 11 is NUL'; do
	# shellcheck disable=SC2059
	printf "${magic%:*}" >'a file'
	refused 1 "a file: .*${magic##*:}" "$ZRECORD" create c.zr --lines 'a file'
done
printf '\376\377\0a\0\n' >'a file'
refused 1 "iconv -f UTF-16 -t UTF-8 'a file' \|" \
	"$ZRECORD" create c.zr --lines 'a file'
"$ZRECORD" create c.zr --lines - <t.gz 2>.err &&
	failed "gzip data of standard input"
grep -q "standard input: gzip.*| zcat | " .err || failed "$(cat .err)"
# All else is text of some encoding, also Latin-1 and words of a magic.
for text in '\351t\351\n' 'PAR1\n' 'PK\n' '\377\n' 'BZh9\n' '\033[1m\n' \
	'\357\273\277bom\n'; do
	# shellcheck disable=SC2059
	printf "$text" >l.txt
	done_well "$ZRECORD" create c.zr --lines l.txt
	rm -rf c.zr
done

# A pipe is kept in TMPDIR, which is named when that fails.
cat many.txt | TMPDIR=$work/no/where "$ZRECORD" create c.zr --lines - 2>.err &&
	failed "kept somewhere else than TMPDIR"
grep -q "standard input: .*$work/no/where.*TMPDIR" .err ||
	failed "TMPDIR: $(cat .err)"

# A file is read in place, from where it was left.
{
	read -r first
	TMPDIR=$work/no/where "$ZRECORD" create -q c.zr --lines -
} <many.txt 2>.err || failed "a file as standard input: $(cat .err)"
tail -n +2 many.txt >rest.txt
[ -n "$first" ] && lines_back c.zr rest.txt

refused 1 "none\.txt" "$ZRECORD" create c.zr --lines none.txt
refused 1 "\.: .*directory" "$ZRECORD" create c.zr --lines .
refused 2 "" "$ZRECORD" create c.zr --lines
refused 2 "" "$ZRECORD" create c.zr a.npy --lines a.txt
[ ! -e c.zr ] || failed "an error left c.zr"
nothing_left
finish
