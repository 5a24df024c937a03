/* SPDX-License-Identifier: BSD-2-Clause
 * A test that crashes. */
#include <criterion/criterion.h>
#include <stdlib.h>

Test(selftest, crashes)
{
	abort();
}
