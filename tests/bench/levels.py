#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Size and speed of every level of zstd and zstd_dict on three kinds of data.

usage: levels.py --levels PROGRAM --zrecord PROGRAM [--only WORD] [--keep DIR]
                 [--threads N]

Makes a raw container of each kind with zrecord, runs tests/bench/levels.c on
it, and prints the rows as a table. Needs numpy, tokenizers and scikit-image.
tokens: manual pages and Python sources of this machine, in tokens of a
byte-pair tokenizer that is trained on them, 512 a record. images: crops of the
photographs that scikit-image carries, (3, 224, 224) u1. fields: sums of waves
with a power-law spectrum in float32, (64, 64), in steps of 1/64 as a sensor
gives them.
"""
import argparse, glob, gzip, json, os, platform, shutil, subprocess, tempfile

import numpy as np

rng = np.random.default_rng(1)
TEXT_BYTES = 48 << 20


def texts():
    """Files in the order of their names, some of each kind."""
    pages = sorted(glob.glob("/usr/share/man/man[1-8]/*.gz"))
    python = sorted(glob.glob("/usr/lib/python3*/**/*.py", recursive=True))
    for names, reader, budget in ((pages, gzip.open, TEXT_BYTES * 2 // 3),
                                  (python, open, TEXT_BYTES // 3)):
        for name in names:
            if budget <= 0:
                break
            if not os.path.isfile(name):
                continue
            with reader(name, "rb") as f:
                text = f.read().decode("utf-8", "replace")
            budget -= len(text)
            yield text


def tokens():
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    every = list(texts())
    bpe.train_from_iterator(every[::4], trainers.BpeTrainer(
        vocab_size=32000, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    ids = np.concatenate([np.array(e.ids, "<i4")
                          for e in bpe.encode_batch(every)])
    ids = ids[:len(ids) // 512 * 512].reshape(-1, 512)
    return ids[rng.permutation(len(ids))]


def images():
    import skimage.data, skimage.io
    photos = []
    folder = os.path.dirname(skimage.data.__file__)
    for name in sorted(glob.glob(folder + "/*.png") +
                       glob.glob(folder + "/*.jpg")):
        photo = skimage.io.imread(name)
        if photo.ndim == 3 and photo.shape[2] >= 3 and \
                min(photo.shape[:2]) > 240:
            photos.append(photo[:, :, :3])
    crops = []
    for i in range(400):
        photo = photos[i % len(photos)]
        y = rng.integers(0, photo.shape[0] - 223)
        x = rng.integers(0, photo.shape[1] - 223)
        crops.append(photo[y:y + 224, x:x + 224].transpose(2, 0, 1))
    return np.ascontiguousarray(np.stack(crops))


def fields():
    freq = np.hypot(np.fft.fftfreq(64)[:, None], np.fft.fftfreq(64)[None])
    freq[0, 0] = 1
    noise = np.fft.fft2(rng.standard_normal((4096, 64, 64)))
    field = np.fft.ifft2(noise * freq ** -1.8).real
    field *= 10 / field.std()
    return (np.round((field + 280) * 64) / 64).astype("<f4")


def main():
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("--levels", required=True)
    ap.add_argument("--zrecord", required=True)
    ap.add_argument("--only", default="")
    ap.add_argument("--keep", help="directory for the containers of records")
    ap.add_argument("--threads", default="0")
    a = ap.parse_args()
    tmp = tempfile.mkdtemp(prefix="zrlevels.", dir=a.keep)
    rows = []
    print(f"# {platform.platform()}, {os.cpu_count()} CPUs, load "
          f"{os.getloadavg()[0]:.1f}", flush=True)
    try:
        for make in (tokens, images, fields):
            if a.only not in make.__name__:
                continue
            path = os.path.join(a.keep or tmp, make.__name__)
            if not os.path.exists(path):
                np.save(tmp + "/records.npy", make())
                subprocess.run([a.zrecord, "create", path,
                                tmp + "/records.npy"], check=True)
            out = subprocess.run([a.levels, path, tmp, a.threads], check=True,
                                 stdout=subprocess.PIPE, text=True).stdout
            for line in out.splitlines():
                rows.append({"data": make.__name__, **json.loads(line)})
                print(json.dumps(rows[-1]), flush=True)
    finally:
        shutil.rmtree(tmp, ignore_errors=True)
    print("\n| data | codec | level | ratio | write MiB/s | read MiB/s |")
    print("|---|---|---|---|---|---|")
    for r in rows:
        print(f"| {r['data']} | {r['codec']} | {r['level'] or 'default'} | "
              f"{r['ratio']:.2f} | {r['write']:.0f} | {r['read']:.0f} |")


if __name__ == "__main__":
    main()
