/* SPDX-License-Identifier: BSD-2-Clause
 * Property: any bytes are a .npy header or -EUCLEAN or -ENOTSUP; what a header
 * says is consistent, and the header written from it says the same. Input: a
 * file as it is. */
#include "fuzz.h"

static void look(const struct zr_npy *n, size_t len)
{
	uint8_t head[ZR_NPY_HEADER_MAX];
	uint64_t bytes;
	struct zr_npy again;
	size_t written, told;

	must(n->header_bytes <= len);
	must(n->shape.rank <= ZR_RANK_MAX);
	must(!zr_shape_size(&n->dtype, &n->shape, NULL, &bytes));
	must(bytes == n->data_bytes);
	must(zr_npy_header(head, sizeof(head), &written, &n->dtype,
			   &n->shape) == 0);
	must(written % 64 == 0);
	must(zr_npy_header_bytes(head, &told) == 0 && told == written);
	must(zr_npy_parse(head, written, &again, NULL) == 0);
	must(!strcmp(again.dtype.str, n->dtype.str));
	must(same_shape(&again.shape, &n->shape));
	must(!again.fortran_order && again.header_bytes == written);
	must(again.data_bytes == n->data_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zr_error err = { 0 };
	struct zr_npy n;
	size_t len = size;
	uint8_t *buf;
	int rc = 0;

	if (size >= 12) {
		uint8_t *first = copy_of(data, 12);

		rc = zr_npy_header_bytes(first, &len);
		free(first);
		must(rc == 0 || rc == -EUCLEAN || rc == -ENOTSUP);
		must(rc || (len >= 10 && len <= ((size_t)1 << 20) + 12));
	}
	/* Also what is not whole, or has elements behind. */
	buf = copy_of(data, size);
	rc = zr_npy_parse(buf, size, &n, &err);
	must(rc == 0 || rc == -EUCLEAN || rc == -ENOTSUP);
	must(!rc || (err.code == rc && err.message[0]));
	if (!rc)
		look(&n, size);
	free(buf);
	if (size >= 12 && len < size) {
		buf = copy_of(data, len);
		must(zr_npy_parse(buf, len, &n, NULL) == rc);
		if (!rc)
			must(n.header_bytes == len);
		free(buf);
	}
	return 0;
}
