/* SPDX-License-Identifier: BSD-2-Clause
 * A test that fails. */
#include <criterion/criterion.h>
#include <stdlib.h>

Test(selftest, fails)
{
	cr_expect(0, "as it should");
}
