/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the tests of a program that were listed, or those whose names match XB_TEST_ONLY. */
#include "cmocka.h"

#include <stdlib.h>

static struct test *first, **last = &first;
static size_t count;
static CMFixtureFunction each[2], all[2];

void test_list(struct test *test)
{
	*last = test;
	last = &test->next;
	count++;
}

void tests_each(CMFixtureFunction begin, CMFixtureFunction end)
{
	each[0] = begin;
	each[1] = end;
}

void tests_all(CMFixtureFunction begin, CMFixtureFunction end)
{
	all[0] = begin;
	all[1] = end;
}

/* Other programs of tests have their own. */
__attribute__((weak)) int main(void)
{
	struct CMUnitTest *tests = calloc(count, sizeof(*tests));
	int failed;

	if (!tests)
		return 1;
	count = 0;
	for (struct test *test = first; test; test = test->next) {
		tests[count] = test->test;
		if (!test->own) {
			tests[count].setup_func = each[0];
			tests[count].teardown_func = each[1];
		}
		count++;
	}
	if (getenv("XB_TEST_ONLY"))
		cmocka_set_test_filter(getenv("XB_TEST_ONLY"));
	failed = _cmocka_run_group_tests("tests", tests, count, all[0], all[1]);
	free(tests);
	return failed;
}
