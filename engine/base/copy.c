/* SPDX-License-Identifier: BSD-2-Clause
 * Copies of records into a batch: with streaming stores for long ones, which
 * spare reading the destination first. */
#include "copy.h"

#include <stdint.h>
#include <string.h>

/* Of less, the ends that are not streamed cost too much. */
#define STREAM_BYTES ((size_t)32 << 10)

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2"))) static void
copy_streaming(unsigned char *dst, const unsigned char *src, size_t len)
{
	size_t head = -(uintptr_t)dst & 31;

	memcpy(dst, src, head);
	dst += head;
	src += head;
	len -= head;
	for (; len >= 128; len -= 128, dst += 128, src += 128) {
		__m256i a = _mm256_loadu_si256((const void *)src);
		__m256i b = _mm256_loadu_si256((const void *)(src + 32));
		__m256i c = _mm256_loadu_si256((const void *)(src + 64));
		__m256i d = _mm256_loadu_si256((const void *)(src + 96));

		_mm256_stream_si256((void *)dst, a);
		_mm256_stream_si256((void *)(dst + 32), b);
		_mm256_stream_si256((void *)(dst + 64), c);
		_mm256_stream_si256((void *)(dst + 96), d);
	}
	/* Another thread will read this after a lock, which does not order
	 * streaming stores. */
	_mm_sfence();
	memcpy(dst, src, len);
}

void zr_copy_record(void *dst, const void *src, size_t len, bool stream)
{
	if (stream && len >= STREAM_BYTES && __builtin_cpu_supports("avx2"))
		copy_streaming(dst, src, len);
	else
		memcpy(dst, src, len);
}
#else
void zr_copy_record(void *dst, const void *src, size_t len, bool stream)
{
	(void)stream;
	memcpy(dst, src, len);
}
#endif
