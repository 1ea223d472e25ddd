/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"

static void numbers(void **state)
{
	(void)state;
	assert_string_equal(XB_NUMBER(0.0), "0");
	assert_string_equal(XB_NUMBER(1.5), "1.5");
	assert_string_equal(XB_NUMBER(0.1), "0.1");
	assert_string_equal(XB_NUMBER(0.0001), "0.0001");
	assert_string_equal(XB_NUMBER(1e-5), "1e-5");
	assert_string_equal(XB_NUMBER(1e-9), "1e-9");
	assert_string_equal(XB_NUMBER(2.5e-6), "2.5e-6");
	assert_string_equal(XB_NUMBER(1.23456e-10), "1.23456e-10");
	assert_string_equal(XB_NUMBER(-1.23456e-308), "-1.23456e-308");
	assert_string_equal(XB_NUMBER(1e100), "1e+100");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(numbers)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
