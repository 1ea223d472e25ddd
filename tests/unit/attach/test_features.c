/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Features of the one device that is everywhere, and what there is not. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attach/features.h"

static void of_the_loopback(void **state)
{
	bool on = false;

	(void)state;
	assert_int_equal(xb_feature_get("lo", "loopback", &on), 0);
	assert_true(on);
	assert_int_equal(xb_feature_get("lo", "rx-vlan-hw-parse", &on), 0);
	assert_false(on);
}

static void what_there_is_not(void **state)
{
	bool on = true;

	(void)state;
	assert_int_equal(xb_feature_get("nosuch0", "loopback", &on), -ENODEV);
	assert_false(on);
	on = true;
	assert_int_equal(xb_feature_get("lo", "nosuch-feature", &on), -ENOENT);
	assert_false(on);
	/* Names in full. */
	assert_int_equal(xb_feature_get("lo", "loop", &on), -ENOENT);
	assert_int_equal(xb_feature_get("a name that is longer than any", "loopback", &on),
			 -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_the_loopback),
		cmocka_unit_test(what_there_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
