/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Problems: words for programs, texts that are safe for a terminal, and room for many. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "engine/problem.h"
#include "support/cmocka.h"

/* Programs compare these words. */
TEST(words_stay)
{
	static const char *const words[] = {
		"unfiltered",	 "renamed",	   "name_unusable",  "name_taken",
		"mode",		 "unwanted",	   "left",	     "stale",
		"unproven",	 "vlan_answers",   "namespace",	     "hidden",
		"not_enforced",	 "filter_unknown", "filter_foreign", "filter_idle",
		"counters_lost", "interrupted",	   "filter_behind",  "filter_unfit",
		"policy",	 "trial_over",	   "change_lasts",   "not_learning",
		"known_full",	 "overdue",	   "feed_stale",     "still_learning",
		"elsewhere",
	};

	assert_int_equal(XB_PROBLEM_KINDS, sizeof(words) / sizeof(words[0]));
	for (enum xb_problem_kind kind = 0; kind < XB_PROBLEM_KINDS; kind++) {
		assert_string_equal(xb_problem_name(kind), words[kind]);
		for (const char *at = words[kind]; *at; at++)
			assert_true(islower((unsigned char)*at) || *at == '_');
	}
}

TEST(none_at_first)
{
	static const struct xb_problems none;
	struct xb_problems problems = {0};

	xb_problems_free(&problems);
	xb_problem_add(&problems, XB_PROBLEM_POLICY, NULL, "a");
	xb_problems_free(&problems);
	assert_memory_equal(&problems, &none, sizeof(none));
	xb_problems_free(&problems);
}

TEST(many_in_their_order)
{
	static const struct xb_interface interfaces[3];
	struct xb_problems problems = {0};
	char text[32];

	for (unsigned int i = 0; i < 3000; i++)
		xb_problem_add(&problems, i % XB_PROBLEM_KINDS,
			       i % 4 < 3 ? &interfaces[i % 4] : NULL, "problem %u", i);
	assert_int_equal(problems.count, 3000);
	assert_false(problems.lost);
	for (unsigned int i = 0; i < 3000; i++) {
		snprintf(text, sizeof(text), "problem %u", i);
		assert_string_equal(problems.item[i].text, text);
		assert_int_equal(problems.item[i].kind, i % XB_PROBLEM_KINDS);
		assert_ptr_equal(problems.item[i].interface, i % 4 < 3 ? &interfaces[i % 4] : NULL);
	}
	xb_problems_free(&problems);
}

TEST(texts_are_safe)
{
	struct xb_problems problems = {0};
	char longest[2000], shown[sizeof(problems.item->text)];

	xb_problem_add(&problems, XB_PROBLEM_MODE, NULL, "%s", "x\033[2J\n\xff");
	assert_string_equal(problems.item[0].text, "x?[2J??");
	/* Cut, but not in the middle of a character. */
	for (size_t shift = 0; shift < 3; shift++) {
		memset(longest, 'a', shift);
		for (size_t i = shift; i + 4 < sizeof(longest); i += 3)
			memcpy(longest + i, "€", 4);
		xb_problem_add(&problems, XB_PROBLEM_MODE, NULL, "%s", longest);
		assert_int_equal(strlen(problems.item[1 + shift].text), sizeof(shown) - 1);
		strcpy(shown, problems.item[1 + shift].text);
		xb_utf8_clean(shown);
		assert_string_equal(problems.item[1 + shift].text, shown);
	}
	xb_problems_free(&problems);
}

/* There is room for no more: what is there stays, and that there are more is known. */
TEST(no_memory)
{
	struct xb_problem one = {.text = "first"};
	struct xb_problems problems = {.item = &one, .count = SIZE_MAX - 1, .room = SIZE_MAX - 1};

	xb_problem_add(&problems, XB_PROBLEM_MODE, NULL, "another");
	assert_true(problems.lost);
	assert_true(problems.count == SIZE_MAX - 1);
	assert_ptr_equal(problems.item, &one);
	assert_string_equal(one.text, "first");
}
