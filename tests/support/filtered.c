/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of a program of cmocka's only the tests whose names match XB_TEST_ONLY, if it is set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

__attribute__((constructor)) static void run_only_some(void)
{
	const char *only = getenv("XB_TEST_ONLY");

	if (only)
		cmocka_set_test_filter(only);
}
