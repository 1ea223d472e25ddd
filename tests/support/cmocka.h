/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmocka, with what nearly every test includes beside it; and a list of a program's tests, in the
 * order of the file, which each test enters by its definition. */
#ifndef XB_TESTS_CMOCKA_H
#define XB_TESTS_CMOCKA_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* _fail() ends the test, but is not declared so: whoever reads on would take that for possible. */
#undef fail
#define fail() (_fail(__FILE__, __LINE__), abort())

/* own: what EACH_TEST() says is not for it. */
struct test {
	struct CMUnitTest test;
	bool own;
	struct test *next;
};

/* Before main(). The test stays the caller's. */
void test_list(struct test *test);
void tests_each(CMFixtureFunction begin, CMFixtureFunction end);
void tests_all(CMFixtureFunction begin, CMFixtureFunction end);

/* A function that runs before main(). */
#define BEFORE_MAIN(name) __attribute__((constructor)) static void name(void)

#define LISTED_TEST(label, function, value, begin, end, own)                                       \
	BEFORE_MAIN(enter_##label)                                                                 \
	{                                                                                          \
		static struct test test = {{#label, function, begin, end, value}, own, NULL};      \
                                                                                                   \
		test_list(&test);                                                                  \
	}                                                                                          \
	struct test

/* A test, which its body follows. Of cmocka's state few tests have use. */
#define TEST(name)                                                                                 \
	static void name(void **state);                                                            \
	LISTED_TEST(name, name, NULL, NULL, NULL, false);                                          \
	static void name(void **state)

/* A test with its own functions before and after it, or NULL. */
#define TEST_WITH(name, begin, end)                                                                \
	static void name(void **state);                                                            \
	LISTED_TEST(name, name, NULL, begin, end, true);                                           \
	static void name(void **state)

/* A test of that name that calls the function, with this as state. */
#define TEST_OF(label, function, value)                                                            \
	LISTED_TEST(label, function, (void *)(value), NULL, NULL, false)

/* What comes before and after each test, and before the first and after the last one, or NULL. */
#define EACH_TEST(begin, end)                                                                      \
	BEFORE_MAIN(each_test)                                                                     \
	{                                                                                          \
		tests_each(begin, end);                                                            \
	}                                                                                          \
	struct test
#define ALL_TESTS(begin, end)                                                                      \
	BEFORE_MAIN(all_tests)                                                                     \
	{                                                                                          \
		tests_all(begin, end);                                                             \
	}                                                                                          \
	struct test

#pragma GCC diagnostic ignored "-Wunused-parameter"

#endif
