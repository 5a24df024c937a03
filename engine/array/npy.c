/* SPDX-License-Identifier: BSD-2-Clause
 * The header of a .npy file, byte for byte as numpy.save writes it. */
#include <errno.h>
#include <string.h>

#include "base/le.h"
#include "zrecord.h"

#define ALIGN 64
#define PREFIX 10        /* magic, version 1.0, u16 length */
#define PREFIX_LONG 12   /* versions 2.0 and 3.0: u32 length */
#define GROWTH_DIGITS 21 /* room for the first dimension to grow in place */
#define LONG_MAX_BYTES (1u << 20) /* NumPy refuses texts over 10000 */

static size_t put_text(char *at, const char *text)
{
	size_t len = strlen(text);

	memcpy(at, text, len);
	return len;
}

/* Own printer: no locale may put separators between the digits. */
static size_t put_number(char *at, uint64_t v)
{
	char digits[20];
	size_t n = 0;

	do {
		digits[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	for (size_t i = 0; i < n; i++)
		at[i] = digits[n - 1 - i];
	return n;
}

int zr_npy_header(void *buf, size_t size, size_t *len,
		  const struct zr_dtype *dtype, const struct zr_shape *shape)
{
	char text[ZR_NPY_HEADER_MAX];
	size_t n = 0, grow = 0, need, total;
	unsigned char *p = buf;

	if (shape->rank > ZR_RANK_MAX)
		return -EINVAL;
	n += put_text(text + n, "{'descr': '");
	n += put_text(text + n, dtype->str);
	n += put_text(text + n, "', 'fortran_order': False, 'shape': (");
	for (uint32_t i = 0; i < shape->rank; i++) {
		size_t digits = put_number(text + n, shape->dims[i]);

		n += digits;
		if (i == 0)
			grow = GROWTH_DIGITS - digits;
		if (i + 1 < shape->rank)
			n += put_text(text + n, ", ");
		else if (shape->rank == 1)
			n += put_text(text + n, ",");
	}
	n += put_text(text + n, "), }");
	/* NumPy pads a header that ends on a boundary by a whole step. */
	need = PREFIX + n + grow + 1;
	total = need + ALIGN - need % ALIGN;
	*len = total;
	if (total > size)
		return -ERANGE;
	memcpy(p, "\x93NUMPY\x01\x00", 8);
	p[8] = (unsigned char)((total - PREFIX) & 0xff);
	p[9] = (unsigned char)((total - PREFIX) >> 8);
	memcpy(p + PREFIX, text, n);
	memset(p + PREFIX + n, ' ', total - PREFIX - n - 1);
	p[total - 1] = '\n';
	return 0;
}

int zr_npy_header_bytes(const void *first12, size_t *bytes)
{
	const unsigned char *p = first12;

	if (memcmp(p, "\x93NUMPY", 6))
		return -EUCLEAN;
	if (p[6] < 1 || p[6] > 3 || p[7])
		return -ENOTSUP;
	if (p[6] == 1) {
		*bytes = PREFIX + (size_t)p[8] + ((size_t)p[9] << 8);
		return 0;
	}
	if (zr_le32(p + 8) > LONG_MAX_BYTES)
		return -ENOTSUP;
	*bytes = PREFIX_LONG + (size_t)zr_le32(p + 8);
	return 0;
}
