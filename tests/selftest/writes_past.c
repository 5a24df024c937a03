/* SPDX-License-Identifier: BSD-2-Clause
 * A test that writes past its memory. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(selftest, writes_past)
{
	char *p = calloc(10, 1);
	volatile size_t len = 11;

	memset(p, 1, len);
	cr_expect(p[0] == 1);
	free(p);
}
