/* SPDX-License-Identifier: BSD-2-Clause
 * Property: any text is a dtype or -EINVAL or -ENOTSUP; a dtype agrees with
 * its own canonical text, which reads as itself. Input: the text. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = copy_of(data, size);
	struct zr_shape shape = { 2, { 3, 5 } };
	struct zr_dtype d, again;
	uint64_t items, bytes;
	int rc;

	rc = zr_dtype_parse(&d, text, size);
	free(text);
	must(rc == 0 || rc == -EINVAL || rc == -ENOTSUP);
	if (rc)
		return 0;
	must(memchr(d.str, '\0', sizeof(d.str)));
	must(strchr("<>|", d.str[0]) && d.order == d.str[0]);
	must(strchr("biufcmMSUV", d.str[1]) && d.kind == d.str[1]);
	must(d.itemsize >= 1 && d.itemsize <= INT32_MAX);
	must(zr_dtype_parse(&again, d.str, strlen(d.str)) == 0);
	must(!strcmp(again.str, d.str) && again.itemsize == d.itemsize);
	must(zr_shape_size(&d, &shape, &items, &bytes) == 0);
	must(items == 15 && bytes == 15 * (uint64_t)d.itemsize);
	return 0;
}
