/* SPDX-License-Identifier: BSD-2-Clause
 * A test that passes, but leaks: Criterion does not mind. */
#include <criterion/criterion.h>
#include <stdlib.h>

Test(selftest, leaks)
{
	void *volatile p = malloc(100);

	cr_expect(p != NULL);
	p = NULL;
}
