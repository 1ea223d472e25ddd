/* SPDX-License-Identifier: GPL-2.0-or-later */
/* International names: their ASCII form, and why there is none. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/idn.h"
#include "support/cmocka.h"

TEST(ascii_forms)
{
	static const char *const rows[][2] = {
		{"example.com", "example.com"},
		{"EXAMPLE.com", "example.com"},
		{"ü.example", "xn--tda.example"},
		{"u\xcc\x88.example", "xn--tda.example"}, /* composed first */
		{"Ü.example", "xn--tda.example"},
		{"straße.example", "xn--strae-oqa.example"}, /* no "ss" any more */
		{"www。example", "www.example"},
		{"ｅｘ.example", "ex.example"}, /* full width */
		{"xn--tda.example", "xn--tda.example"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *why = "unchanged";
		char *ascii = xb_idn_to_ascii(rows[i][0], &why);

		assert_non_null(ascii);
		assert_string_equal(ascii, rows[i][1]);
		assert_null(why);
		free(ascii);
	}
}

static void is_refused(const char *text)
{
	const char *why = NULL;

	xb_error_clear();
	if (xb_idn_to_ascii(text, &why))
		fail_msg("'%s' is taken", text);
	assert_non_null(why);
	assert_true(strlen(why) > 0);
	/* The caller makes the message. */
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
}

TEST(names_without_one)
{
	char label[200] = "";

	is_refused("\xff.example");
	is_refused("\xc3.example");
	is_refused("☃\xe2\x80\xae.example");
	is_refused("\xcc\x88u.example"); /* begins with a mark */
	for (int i = 0; i < 60; i++)
		strcat(label, "ü");
	is_refused(label);
}
