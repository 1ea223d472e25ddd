/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/exitcode.h"

#include "base/error.h"

int exitcode_of_error(void)
{
	return xb_error_class() == XB_ERROR_INPUT ? EXIT_USAGE : EXIT_SYSTEM;
}
