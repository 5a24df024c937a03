/* SPDX-License-Identifier: BSD-2-Clause
 * The values of options. */
#ifndef OPTVALUE_H
#define OPTVALUE_H

#include "options.h"
#include "optname.h"

/* Take the value of an option; `option` is both, for messages. Returns -1 to go
 * on, else the exit status, after saying what is wrong. */
int options_value(struct options *opt, enum option_kind kind,
		  const char *option, char *value);

/* Hand the option on to libfuse. Returns as options_value. */
int options_pass_on(struct options *opt, const char *option);

#endif
