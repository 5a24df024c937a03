/* SPDX-License-Identifier: BSD-2-Clause
 * Stored bytes of a record to its bytes and back: the only file that knows
 * zstd, with dict.c. */
#define ZSTD_STATIC_LINKING_ONLY /* libzstd exports them all the same */
#include "codec.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/le.h"

#define BLOCK_BYTES ((uint64_t)128 << 10)

/* loaderx 2.0.7 writes zstd at 3 and zstd_dict at 19; with a large dictionary
 * 7 finds as much at several times the speed (docs/BENCHMARKS.md), with a small
 * one it finds less. */
#define LEVEL_ZSTD 3
#define LEVEL_DICT 7
#define LEVEL_DICT_SMALL 12
#define DICT_LARGE ((size_t)256 << 10)

struct zr_decode_dict {
	ZSTD_DDict *ddict;
	bool no_memory; /* and not a dictionary that zstd refuses */
};

struct zr_encode_dict {
	ZSTD_CDict *cdict;
};

struct zr_decoder {
	ZSTD_DCtx *ctx;
};

struct zr_encoder {
	ZSTD_CCtx *ctx;
};

int zr_codec_level(enum zr_codec codec, int level, size_t dict_bytes)
{
	if (level)
		return level;
	if (codec != ZR_ZSTD_DICT)
		return LEVEL_ZSTD;
	return dict_bytes < DICT_LARGE ? LEVEL_DICT_SMALL : LEVEL_DICT;
}

bool zr_codec_level_ok(enum zr_codec codec, int level)
{
	if (codec == ZR_RAW)
		return level == 0;
	return level >= ZSTD_minCLevel() && level <= ZSTD_maxCLevel();
}

static void *allocate(void *opaque, size_t size)
{
	struct zr_decode_dict *d = opaque;
	void *p = malloc(size);

	if (!p)
		d->no_memory = true;
	return p;
}

static void release(void *opaque, void *p)
{
	(void)opaque;
	free(p);
}

int zr_decode_dict_new(struct zr_decode_dict **out, const void *dict,
		       size_t bytes)
{
	struct zr_decode_dict *d = calloc(1, sizeof(*d));
	ZSTD_customMem memory = { allocate, release, d };
	int rc;

	*out = NULL;
	if (!d)
		return -ENOMEM;
	d->ddict = ZSTD_createDDict_advanced(dict, bytes, ZSTD_dlm_byCopy,
					     ZSTD_dct_auto, memory);
	if (!d->ddict) {
		rc = d->no_memory ? -ENOMEM : -EUCLEAN;
		free(d);
		return rc;
	}
	*out = d;
	return 0;
}

void zr_decode_dict_free(struct zr_decode_dict *dict)
{
	if (!dict)
		return;
	ZSTD_freeDDict(dict->ddict);
	free(dict);
}

/* ZSTD_createCDict of libzstd 1.5.4 and older goes on without memory, to NULL;
 * so find out whether there is some. */
static bool room_to_digest(size_t bytes, int level)
{
	void *p = malloc(ZSTD_estimateCDictSize(bytes, level));

	free(p);
	return p != NULL;
}

int zr_encode_dict_new(struct zr_encode_dict **out, const void *dict,
		       size_t bytes, int level)
{
	struct zr_encode_dict *d;

	*out = NULL;
	if (!room_to_digest(bytes, level))
		return -ENOMEM;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->cdict = ZSTD_createCDict(dict, bytes, level);
	if (!d->cdict) {
		free(d);
		return -EINVAL;
	}
	*out = d;
	return 0;
}

void zr_encode_dict_free(struct zr_encode_dict *dict)
{
	if (!dict)
		return;
	ZSTD_freeCDict(dict->cdict);
	free(dict);
}

int zr_decoder_new(struct zr_decoder **out, const struct zr_decode_dict *dict)
{
	struct zr_decoder *d = calloc(1, sizeof(*d));

	*out = NULL;
	if (!d)
		return -ENOMEM;
	d->ctx = ZSTD_createDCtx();
	if (!d->ctx ||
	    (dict && ZSTD_isError(ZSTD_DCtx_refDDict(d->ctx, dict->ddict)))) {
		zr_decoder_free(d);
		return -ENOMEM;
	}
	*out = d;
	return 0;
}

void zr_decoder_free(struct zr_decoder *d)
{
	if (!d)
		return;
	ZSTD_freeDCtx(d->ctx);
	free(d);
}

int zr_encoder_new(struct zr_encoder **out, const struct zr_encode_dict *dict,
		   int level)
{
	struct zr_encoder *e = calloc(1, sizeof(*e));
	size_t rc;

	*out = NULL;
	if (!e)
		return -ENOMEM;
	e->ctx = ZSTD_createCCtx();
	if (!e->ctx)
		goto nomem;
	if (dict)
		rc = ZSTD_CCtx_refCDict(e->ctx, dict->cdict);
	else
		rc = ZSTD_CCtx_setParameter(e->ctx, ZSTD_c_compressionLevel,
					    level);
	if (ZSTD_isError(rc))
		goto nomem;
	*out = e;
	return 0;
nomem:
	zr_encoder_free(e);
	return -ENOMEM;
}

void zr_encoder_free(struct zr_encoder *e)
{
	if (!e)
		return;
	ZSTD_freeCCtx(e->ctx);
	free(e);
}

uint64_t zr_decode_bound(uint64_t stored)
{
	return (stored / 4 + 1) * BLOCK_BYTES;
}

/* One frame of the current format: libzstd also takes frames of zstd 0.5 to
 * 0.7, skippable frames and several frames in a row. */
static const char *not_one_frame(const void *src, size_t stored)
{
	size_t frame;

	if (stored < 4 || zr_le32(src) != ZSTD_MAGICNUMBER)
		return "the stored bytes are not a zstd frame";
	frame = ZSTD_findFrameCompressedSize(src, stored);
	if (ZSTD_isError(frame))
		return ZSTD_getErrorName(frame);
	if (frame != stored)
		return "bytes follow the zstd frame";
	return NULL;
}

static bool no_memory(size_t rc)
{
	return ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation;
}

int zr_decode(struct zr_decoder *d, void *dst, size_t logic, const void *src,
	      size_t stored, const char **why)
{
	size_t n;

	*why = not_one_frame(src, stored);
	if (*why)
		return -EBADMSG;
	n = ZSTD_decompressDCtx(d->ctx, dst, logic, src, stored);
	if (no_memory(n))
		return -ENOMEM;
	if (ZSTD_isError(n))
		*why = ZSTD_getErrorName(n);
	else if (n != logic)
		*why = "the zstd frame holds fewer bytes";
	return *why ? -EBADMSG : 0;
}

int zr_decode_prefix(struct zr_decoder *d, void *dst, size_t len,
		     uint64_t logic, const void *src, size_t stored,
		     const char **why)
{
	ZSTD_outBuffer out = { dst, len, 0 };
	ZSTD_inBuffer in = { src, stored, 0 };
	unsigned long long content;
	ZSTD_bounds window = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
	size_t rc;

	*why = NULL;
	if (stored < 4 || zr_le32(src) != ZSTD_MAGICNUMBER) {
		*why = "the stored bytes are not a zstd frame";
		return -EBADMSG;
	}
	content = ZSTD_getFrameContentSize(src, stored);
	/* The window that streaming allocates is no larger than the content,
	 * if that is known, and the caller has bounded the content. */
	if (content == ZSTD_CONTENTSIZE_UNKNOWN)
		return -ENOTSUP;
	if (content != logic) {
		*why = "the zstd frame does not hold the length of the table";
		return -EBADMSG;
	}
	ZSTD_DCtx_reset(d->ctx, ZSTD_reset_session_only);
	rc = ZSTD_DCtx_setParameter(d->ctx, ZSTD_d_windowLogMax,
				    window.upperBound);
	while (!ZSTD_isError(rc) && out.pos < out.size) {
		size_t before = out.pos;

		rc = ZSTD_decompressStream(d->ctx, &out, &in);
		if (rc == 0 || (in.pos == in.size && out.pos == before))
			break;
	}
	ZSTD_DCtx_reset(d->ctx, ZSTD_reset_session_only);
	if (no_memory(rc))
		return -ENOMEM;
	if (ZSTD_isError(rc))
		*why = ZSTD_getErrorName(rc);
	else if (out.pos < out.size)
		*why = "the zstd frame ends early";
	return *why ? -EBADMSG : 0;
}

size_t zr_encode_bound(size_t len)
{
	return ZSTD_compressBound(len);
}

int zr_encode(struct zr_encoder *e, void *dst, size_t room, const void *src,
	      size_t len, size_t *stored)
{
	size_t n = ZSTD_compress2(e->ctx, dst, room, src, len);

	if (ZSTD_isError(n))
		return -ENOMEM;
	*stored = n;
	return 0;
}
