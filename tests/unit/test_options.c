/* SPDX-License-Identifier: BSD-2-Clause
 * The options of the command: none of a table is dropped, however long it is. */
#include "common/options.h"

#include <criterion/criterion.h>

#define ROWS 100

static const struct command cmd = { "test", "", "", NULL };

Test(options, every_row_of_a_long_table_is_taken)
{
	static char names[ROWS][8];
	static const char *values[ROWS];
	struct option_row rows[ROWS + 2] = { { NULL, NULL, NULL } };
	bool last = false;

	for (int i = 0; i < ROWS; i++) {
		snprintf(names[i], sizeof(names[i]), "row%03d", i);
		rows[i] = (struct option_row){ names[i], NULL, &values[i] };
	}
	rows[ROWS] = (struct option_row){ "z", &last, NULL };
	for (int i = 0; i < ROWS; i++) {
		char option[16], name[] = "test", value[] = "value";
		char letter[] = "-z", more[] = "more";
		char *argv[] = { name, option, value, letter, more, NULL };

		snprintf(option, sizeof(option), "--%s", names[i]);
		optind = 0;
		last = false;
		cr_assert_eq(options_take(&cmd, rows, 5, argv), -1);
		cr_assert_str_eq(values[i], "value");
		cr_assert(last);
		cr_assert_eq(optind, 4);
	}
}
