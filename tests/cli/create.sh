#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# create from every kind of source, and export back.
. "$(dirname "$0")/lib.sh"
need_numpy

"$PYTHON" - <<'END' || fail "making the sources"
import numpy as np, os
rng = np.random.default_rng(3)
a = rng.integers(-99, 99, (500, 3, 4)).astype("<i2")
np.save("a.npy", a); np.save("b.npy", a[:7] + 1)
np.save("f.npy", np.asfortranarray(a)); np.save("be.npy", a.astype(">f8"))
np.save("scalar.npy", np.float32(1)); np.save("none.npy", a[:0])
np.save("zero.npy", np.zeros((3, 0))); np.save("other.npy", a[:, :, :2])
np.save("f4.npy", a.astype("f4")); np.save("obj.npy", np.array([{}]), allow_pickle=True)
np.save("v2.npy", np.array([1, 2], dtype=[("a", "<i4")]))
for d, shapes in (("eq", [(2, 2)] * 9), ("rag", [(1,), (2, 3), (), (4,), (1, 1, 5)])):
    os.mkdir(d)
    for i, s in enumerate(shapes):
        np.save(f"{d}/{i:03}.npy", rng.integers(0, 9, s).astype("|u1"))
open("eq/readme.txt", "w").write("not a record")
np.savez("one.npz", a); np.savez_compressed("many.npz", *[a[i] for i in range(20)])
np.savez("rag.npz", *[np.arange(i + 1) for i in range(12)])
open("t.txt", "wb").write(b"one\ntwo words\n\xff\xfe\nlast")
open("gap.txt", "w").write("a\n\nb\n")
open("cut.npy", "wb").write(open("a.npy", "rb").read()[:-1])
open("more.npy", "wb").write(open("a.npy", "rb").read() + b"x")
open("junk.npy", "wb").write(b"this is no array at all")
z = bytearray(open("one.npz", "rb").read()); z[400] ^= 1
open("badcrc.npz", "wb").write(z)
END

# round NAME EXPRESSION ARGUMENT...: create, verify, export; compare.
round() {
	local name=$1 want=$2
	shift 2
	rm -rf c e e.npz
	works "$ZRECORD" create "$@"
	works "$ZRECORD" verify c
	works "$ZRECORD" export c e
	works "$ZRECORD" export --as npz c e.npz
	"$PYTHON" - "$want" <<'END' || fail "$name: other arrays"
import glob, sys
import numpy as np
a = np.load("a.npy")
want = [np.asarray(x) for x in eval(sys.argv[1])]
got = [np.load(f) for f in sorted(glob.glob("e/*.npy"))]
z = np.load("e.npz")
for other in (got, [z[f"arr_{i}"] for i in range(len(z.files))]):
    assert len(other) == len(want), (len(other), len(want))
    for x, y in zip(other, want):
        assert x.dtype == y.dtype and x.shape == y.shape, (x.dtype, x.shape, y.dtype, y.shape)
        assert x.tobytes() == y.tobytes()
END
}

for codec in raw zstd zstd_dict; do
	round "$codec" a --codec $codec c a.npy
	works "$ZRECORD" export --as npy c e.npy
	cmp -s e.npy a.npy || fail "$codec: export --as npy"
	rm e.npy
done
round "-j" a --codec zstd --level 19 -j 3 c a.npy
round several '[*a, *a[:7] + 1]' c a.npy b.npy
round fortran a c f.npy
round big-endian 'np.load("be.npy")' c be.npy
round ragged a --ragged c a.npy
"$ZRECORD" info --json c | grep -q ragged || fail "--ragged"
round empty '[]' c none.npy
round directory '[np.load(f"eq/{i:03}.npy") for i in range(9)]' c eq
"$ZRECORD" info --json c | grep -q dense || fail "equal shapes make Dense"
round ragged-directory '[np.load(f"rag/{i:03}.npy") for i in range(5)]' c rag
round npz a c one.npz
round npz-members 'a[:20]' --codec zstd c many.npz
round ragged-npz '[np.arange(i + 1) for i in range(12)]' c rag.npz
round lines '[np.frombuffer(x, "u1") for x in (b"one", b"two words", b"\xff\xfe", b"last")]' \
	c --lines t.txt
round skip-empty '[np.frombuffer(x, "u1") for x in (b"a", b"b")]' \
	--skip-empty c --lines gap.txt
round container a c a.npy
mv c first
round recode a --codec zstd_dict c first
rm -rf c
works "$ZRECORD" recode --codec zstd first c
"$ZRECORD" info c | grep -q 'codec *zstd$' || fail recode
works "$ZRECORD" export --select 3,1,1 c sel
[ "$(ls sel | tr '\n' ' ')" = "000001.npy 000003.npy " ] || fail "--select"

for codec in raw zstd_dict; do
	rm -rf c
	"$ZRECORD" create --codec $codec c - <a.npy 2>err || fail "stdin: $(cat err)"
	"$ZRECORD" export --as npy c e.npy && cmp -s e.npy a.npy || fail "stdin"
	rm e.npy
	# Nothing seeks: a pipe is as good.
	rm -rf c
	cat a.npy | "$ZRECORD" create --codec $codec c - || fail "pipe"
	"$ZRECORD" verify c >out || fail "pipe: verify"
done
# A pipe with a name, and lines from a pipe, are read once as well.
for src in a.npy; do
	mkfifo pipe
	cat $src >pipe &
	rm -rf c
	works timeout 20 "$ZRECORD" create c pipe
	"$ZRECORD" export --as npy c e.npy && cmp -s e.npy $src || fail "FIFO"
	rm -f e.npy pipe
done
for how in "--lines -" "--lines /dev/stdin"; do
	rm -rf c
	printf 'a\nbb\nccc' | "$ZRECORD" create --codec zstd $how c || fail "$how"
	[ "$("$ZRECORD" cat --as raw c :)" = abbccc ] || fail "$how: other lines"
done
# Deflated data whose last bytes zlib owes after it has taken all input.
for n in 32 33 34 16384 16395 20000; do
	"$PYTHON" -c "import numpy as np; np.savez_compressed('z.npz', np.full($n, 32, 'u1'))"
	rm -rf c
	works "$ZRECORD" create c z.npz
	[ "$("$ZRECORD" ls c | wc -l)" -eq $n ] || fail "npz of $n"
done
works "$ZRECORD" train --tier fast -o d.dict a.npy
rm -rf c
works "$ZRECORD" create --dict d.dict c a.npy
cmp -s d.dict c/dict.zr || fail "--dict"
refuses 1 "exists" "$ZRECORD" train -o d.dict a.npy
refuses 1 "exists" "$ZRECORD" create c a.npy
refuses 1 "exists" "$ZRECORD" export c sel

rm -rf c
refuses 1 "0-d" "$ZRECORD" create c scalar.npy
refuses 1 "zero.npy: .*no elements" "$ZRECORD" create c zero.npy
refuses 1 "another shape" "$ZRECORD" create c a.npy other.npy
refuses 1 "dtype" "$ZRECORD" create c a.npy f4.npy
refuses 1 "obj.npy" "$ZRECORD" create c obj.npy
refuses 1 "v2.npy" "$ZRECORD" create c v2.npy
refuses 1 "has 12127 bytes, its header says 12128" "$ZRECORD" create c cut.npy
refuses 1 "its header says" "$ZRECORD" create c more.npy
refuses 1 "not a .npy" "$ZRECORD" create c junk.npy
refuses 1 "No such file" "$ZRECORD" create c missing.npy
refuses 1 "CRC" "$ZRECORD" create c badcrc.npz
refuses 1 "line 2 is empty.*--skip-empty" "$ZRECORD" create c --lines gap.txt
refuses 1 "too little data.*--dict" "$ZRECORD" create --codec zstd_dict c rag
refuses 1 "parent" "$ZRECORD" create none/c a.npy
refuses 1 "No such file" "$ZRECORD" create --dict a.npy.none c a.npy
mkdir empty fifo
mkfifo fifo/a.npy
refuses 1 "not a regular file" timeout 20 "$ZRECORD" create c fifo
refuses 1 "exists" "$ZRECORD" create fifo a.npy
refuses 1 "no_such?x" "$ZRECORD" info $'no_such\nx'
refuses 1 "no .npy" "$ZRECORD" create c empty
refuses 1 "Ragged" "$ZRECORD" export --as npy "$GOLDEN/ragged_edges_raw" e.npy
head -c 5000 a.npy | "$ZRECORD" create c - 2>err && fail "a short pipe"
grep -q "too early" err || fail "a short pipe: $(cat err)"
[ ! -e c ] || fail "a failed build left c"
[ -z "$(ls -A | grep zrtmp)" ] || fail "a failed build left $(ls -A)"
