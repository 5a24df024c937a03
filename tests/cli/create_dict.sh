#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# zstd_dict: dictionaries of the source, of a file, of `train`.
. "$(dirname "$0")/count.sh"

"$PYTHON" - <<'P'
# Records that have much in common: token-like, 2 MiB in all.
import random, struct
rng = random.Random(5)
words = [bytes(rng.randrange(256) for _ in range(24)) for _ in range(400)]
def record():
    return b"".join(rng.choice(words) for _ in range(20))
text = b"{'descr': '|u1', 'fortran_order': False, 'shape': (%d, 480), }"
def save(name, n):
    t = text % n
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00\x76\x00" + t.ljust(117) + b"\n")
        for _ in range(n):
            f.write(record())
save("a.npy", 5000)
save("b.npy", 300)
save("few.npy", 3)
P
done_well "$ZRECORD" create raw.zr a.npy
done_well "$ZRECORD" create --codec zstd zstd.zr a.npy
for tier in '' '--tier fast' '--tier balanced' '--tier max'; do
	done_well "$ZRECORD" create --codec zstd_dict $tier d.zr a.npy
	has d.zr codec zstd_dict
	done_well "$ZRECORD" verify d.zr
	[ "$(field d.zr stored_bytes)" -lt "$(field zstd.zr stored_bytes)" ] ||
		failed "a dictionary ($tier) does not help"
	done_well "$ZRECORD" export --as npy d.zr got.npy
	same "zstd_dict $tier" a.npy got.npy
	rm -rf d.zr got.npy
done
done_well "$ZRECORD" create --codec zstd_dict --tier fast d.zr a.npy
[ "$(field d.zr dict_bytes)" -le 32768 ] || failed "fast is over 32 KiB"
rm -r d.zr

done_well "$ZRECORD" train -o dict a.npy
done_well "$ZRECORD" train --tier fast -o small a.npy b.npy
[ "$(stat -c %s small)" -le 32768 ] || failed "train --tier fast"
done_well "$ZRECORD" train -o ofzr raw.zr
"$ZRECORD" train --tier fast -o piped - <a.npy || failed "train of a stream"
[ -s piped ] || failed "train of a stream made no dictionary"
for dict in dict small ofzr piped; do
	done_well "$ZRECORD" create --codec zstd_dict --dict $dict d.zr b.npy
	cmp -s $dict d.zr/dict.zr || failed "--dict $dict is not in it"
	done_well "$ZRECORD" export --as npy d.zr got.npy
	same "--dict $dict" b.npy got.npy
	rm -rf d.zr got.npy
done
# A dictionary saves a source that is too small to train on.
refused 1 "--dict.*--codec zstd|--codec zstd.*--dict" \
	"$ZRECORD" create --codec zstd_dict d.zr few.npy
done_well "$ZRECORD" create --codec zstd_dict --dict dict d.zr few.npy
done_well "$ZRECORD" verify d.zr
rm -r d.zr
make npy e.npy '<i4' 0,3
refused 1 "--dict" "$ZRECORD" create --codec zstd_dict d.zr e.npy
done_well "$ZRECORD" create --codec zstd_dict --dict dict d.zr e.npy
has d.zr records 0
rm -r d.zr
refused 1 "few\.npy|too little|too few" "$ZRECORD" train -o no few.npy

# train refuses what exists, and leaves nothing behind.
cp dict before
refused 1 "dict.*exists" "$ZRECORD" train -o dict b.npy
same "train changed what exists" before dict
refused 1 "none/x" "$ZRECORD" train -o none/x a.npy
refused 1 "none\.npy" "$ZRECORD" train -o no none.npy
[ ! -e no ] || failed "train left a file"
refused 1 "none" "$ZRECORD" create --codec zstd_dict --dict none d.zr a.npy
: >nothing
refused 1 "nothing" "$ZRECORD" create --codec zstd_dict --dict nothing d.zr a.npy
refused 1 "\.: " "$ZRECORD" create --codec zstd_dict --dict . d.zr a.npy
refused 1 "nothing: is empty" "$ZRECORD" create --dict nothing d.zr a.npy
mkfifo pipe
refused 1 "pipe: not a regular file" timeout 20 "$ZRECORD" create --dict pipe \
	d.zr a.npy
rm pipe
# Records larger than any sample: the beginnings are sampled.
mkdir folder
for i in 0 1 2 3 4 5 6 7 8 9; do
	make npy folder/$i.npy '<f4' 1000,60$i
done
done_well "$ZRECORD" create --codec zstd_dict --tier fast d.zr folder
has d.zr kind ragged
done_well "$ZRECORD" verify d.zr
[ -e d.zr ] && rm -r d.zr
done_well "$ZRECORD" recode --codec zstd_dict raw.zr d.zr
done_well "$ZRECORD" export --as npy d.zr got.npy
same "recode to zstd_dict" a.npy got.npy
nothing_left
finish
