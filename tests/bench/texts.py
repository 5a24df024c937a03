# SPDX-License-Identifier: BSD-2-Clause
"""Tokens of real text: what a Debian machine has installed.

Takes texts of at most 4 MiB from FOLDERS, in that order, unpacked and each
once, until there are enough; trains a byte-level BPE of 32768 tokens on 40 MB
of them at most (the `tokenizers` package), shuffles them, and keeps the tokens
beside the build. Nothing is repeated: a machine with less text makes a smaller
workload, and says so.
"""
import glob
import gzip
import hashlib
import json
import os
import zlib

import numpy as np

FOLDERS = ("/usr/share/doc", "/usr/share/man", "/usr/share/info",
           "/usr/share/common-licenses", "/usr/share/perl",
           *sorted(glob.glob("/usr/lib/python3*")), "/usr/include", "/usr/src")
LARGEST = 4 << 20
VOCABULARY = 32768
TRAIN_ON = 40_000_000  # characters
PIECE = 20_000         # characters


def files(folder):
    for base, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(base, name)
            if os.path.isfile(path) and not os.path.islink(path):
                yield path


def text_of(path):
    """The text of a file, or None if it is none."""
    try:
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
            data = f.read(LARGEST + 1)
    except (OSError, EOFError, ValueError, zlib.error):
        return None
    if not 256 <= len(data) <= LARGEST or b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def collect(most):
    """(folder, text) until they are `most` bytes, or as many as there are."""
    seen, texts, total = set(), [], 0
    for folder in FOLDERS:
        for path in files(folder):
            if total >= most:
                return texts
            text = text_of(path)
            if text is None:
                continue
            data = text.encode()
            digest = hashlib.sha256(data).digest()
            if digest not in seen:
                seen.add(digest)
                texts.append((folder, text))
                total += len(data)
    return texts


def train(texts):
    import tokenizers
    tok = tokenizers.Tokenizer(tokenizers.models.BPE())
    tok.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(
        add_prefix_space=False)
    step = sum(len(t) for _, t in texts) // TRAIN_ON + 1
    tok.train_from_iterator(
        (t for _, t in texts[::step]), tokenizers.trainers.BpeTrainer(
            vocab_size=VOCABULARY, show_progress=False,
            initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()))
    return tok


def make(count):
    texts = collect(5 * count)  # a token is 3 to 4 bytes
    order = np.random.default_rng(1).permutation(len(texts))
    texts = [texts[i] for i in order]
    tok = train(texts)
    parts, have, used = [], 0, {}
    for at in range(0, len(texts), 64):
        some = texts[at:at + 64]
        # Short pieces, because long ones are slow to encode.
        for e in tok.encode_batch_fast([
                text[i:i + PIECE] for _, text in some
                for i in range(0, len(text), PIECE)]):
            parts.append(np.array(e.ids, "<i4"))
            have += len(parts[-1])
        for folder, text in some:
            used[folder] = used.get(folder, 0) + len(text.encode())
        if have >= count:
            break
    about = {"tokens": min(have, count), "wanted": count,
             "vocabulary": tok.get_vocab_size(),
             "text_mb": round(sum(used.values()) / 1e6),
             "mb_of": {k: round(v / 1e6, 1) for k, v in used.items()}}
    return np.concatenate(parts)[:count], about


def tokens(count, cache):
    """`count` tokens, int32, or as many as there is text for, and what they are
    made of."""
    base = os.path.join(cache, f"tokens-{count}")
    if not os.path.exists(base + ".json"):
        os.makedirs(cache, exist_ok=True)
        found, about = make(count)
        np.save(base + ".npy", found)
        with open(base + ".json", "w") as f:
            json.dump(about, f)
    with open(base + ".json") as f:
        return np.load(base + ".npy", mmap_mode="r"), json.load(f)
