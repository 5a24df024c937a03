export PATH="$PWD/build:$PATH"
zrecord create --codec zstd_dict digits.zr tests/data/demo/digits.npy
zrecord info digits.zr
zrecord ls digits.zr 0:5
zrecord cat digits.zr 42
zrecord verify digits.zr
zrecord create --lines tests/data/demo/lines.txt lines.zr
zrecord cat --as raw lines.zr 9
mkdir digits
zrecordfs digits.zr digits
ls digits
cat digits/info.json
ls digits/records | head -n 3
cp digits/records/000042.npy .
python3 - <<'END'
try:
    import numpy as np
except ImportError:
    raise SystemExit("python3 has no numpy here")
print(np.load("digits/records/000042.npy").sum())
print(np.load("digits/batches/256/000000.npy").shape)
print(np.load("digits/gather/7,0,100:200.npy").shape)
print(np.load("digits/all.npy", mmap_mode="r")[::100].shape)
END
fusermount3 -u digits
cc -Iengine three.c build/libzrecord.a $(pkg-config --libs libzstd libxxhash msgpack) -pthread -o three
./three digits.zr
