/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmocka, and what it wants to be included before it. It hands each test a state, of which few have
 * use. */
#ifndef XB_TESTS_CMOCKA_H
#define XB_TESTS_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The program of a table of tests; begin and end: around all of them, or NULL. */
#define TEST_MAIN(tests, begin, end)                                                               \
	int main(void)                                                                             \
	{                                                                                          \
		return cmocka_run_group_tests(tests, begin, end);                                  \
	}

#pragma GCC diagnostic ignored "-Wunused-parameter"

#endif
