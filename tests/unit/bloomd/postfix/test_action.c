/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions of Postfix: what is one, and what is put into it. */
#include <string.h>

#include "bloomd/postfix/action.h"
#include "support/cmocka.h"

TEST(test_check)
{
	static const char *const right[] = {
		"REJECT",	"reject it",	   "DEFER_IF_PERMIT later", "DUNNO",
		"450 4.7.1 %l", "554 %a",	   "PREPEND X-Listed: %l",  "prepend A: 100%%",
		"HOLD",		"FILTER smtp:a:1", "REDIRECT a@b.example",
	};
	static const char *const wrong[] = {
		"",
		"OK",
		"PERMIT",
		"REJECTED",
		"250 fine",
		"5500 x",
		"550",
		"4x0 x",
		"PREPEND",
		"PREPEND no colon",
		"PREPEND : x",
		"REJECT %",
		"%l",
		"REJECT %d",
		"REJECT \xc3\xa4",
		"REJECT a\tb",
		"PREPEND %l: a",
		"FILTER",
	};

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		assert_int_equal(action_check(right[i]), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_true(action_check(wrong[i]) < 0);
}

TEST(test_none)
{
	assert_true(action_is_none("DUNNO") && action_is_none("dunno why"));
	assert_false(action_is_none("DUNNOT") || action_is_none("REJECT DUNNO"));
}

TEST(test_format)
{
	char out[ACTION_TEXT], text[ACTION_MOST + 1];

	assert_string_equal(action_format("REJECT %a by %l", "192.0.2.1", "a,b", out),
			    "REJECT 192.0.2.1 by a,b");
	assert_string_equal(action_format("REJECT %%l %%%a%l", "x", "y", out), "REJECT %l %xy");
	/* What is put in is not looked at again. */
	assert_string_equal(action_format("%l%a", "%l", "%a", out), "%a%l");
	for (size_t i = 0; i < ACTION_MOST; i += 2)
		memcpy(text + i, "%l", 2);
	text[ACTION_MOST] = '\0';
	assert_int_equal(strlen(action_format(text, "", "0123456789", out)), ACTION_TEXT - 1);
}
