/* SPDX-License-Identifier: BSD-2-Clause
 * A test with signed overflow. */
#include <criterion/criterion.h>
#include <stdlib.h>

Test(selftest, overflows)
{
	volatile int i = 0x7fffffff;

	i = i + 1;
	cr_expect(i != 0);
}
