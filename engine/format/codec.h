/* SPDX-License-Identifier: BSD-2-Clause
 * Stored bytes of a record to its bytes and back (FORMAT.md F4). */
#ifndef ZR_CODEC_H
#define ZR_CODEC_H

#include "zrecord.h"

struct zr_decode_dict;
struct zr_encode_dict;
struct zr_decoder; /* one zstd context: one thread at a time */
struct zr_encoder;

/* Digest a dictionary for decoding, shared by all decoders. Returns 0,
 * -EUCLEAN if zstd does not take it, -ENOMEM. */
int zr_decode_dict_new(struct zr_decode_dict **out, const void *dict,
		       size_t bytes);
void zr_decode_dict_free(struct zr_decode_dict *dict);

/* Digest a dictionary for encoding at `level`, shared by all encoders.
 * Returns 0, -EINVAL if zstd does not take it, -ENOMEM. */
int zr_encode_dict_new(struct zr_encode_dict **out, const void *dict,
		       size_t bytes, int level);
void zr_encode_dict_free(struct zr_encode_dict *dict);

/* `dict` may be NULL. */
int zr_decoder_new(struct zr_decoder **out, const struct zr_decode_dict *dict);
void zr_decoder_free(struct zr_decoder *d);
int zr_encoder_new(struct zr_encoder **out, const struct zr_encode_dict *dict,
		   int level);
void zr_encoder_free(struct zr_encoder *e);

/* The level that `level` 0 stands for, by the size of the dictionary if there
 * is one, and the range that is allowed. */
int zr_codec_level(enum zr_codec codec, int level, size_t dict_bytes);
bool zr_codec_level_ok(enum zr_codec codec, int level);

/* No frame of `stored` bytes decodes to more: the smallest block, an RLE
 * block of 4 bytes, makes 128 KiB. */
uint64_t zr_decode_bound(uint64_t stored);

/* Decode the one frame src[0, stored) into exactly `logic` bytes. Returns 0
 * or -EBADMSG with *why set to a text, or -ENOMEM. */
int zr_decode(struct zr_decoder *d, void *dst, size_t logic, const void *src,
	      size_t stored, const char **why);

/* Decode the first `len` bytes of a frame that holds `logic` bytes, and no
 * more of it than that takes. Checks nothing behind them. Returns 0,
 * -EBADMSG, -ENOMEM, or -ENOTSUP if the frame must be decoded whole instead. */
int zr_decode_prefix(struct zr_decoder *d, void *dst, size_t len,
		     uint64_t logic, const void *src, size_t stored,
		     const char **why);

/* Room that zr_encode needs for `len` bytes. */
size_t zr_encode_bound(size_t len);

/* Encode into one frame with its size in the header; *stored receives its
 * length. Returns 0 or -ENOMEM. */
int zr_encode(struct zr_encoder *e, void *dst, size_t room, const void *src,
	      size_t len, size_t *stored);

#endif
