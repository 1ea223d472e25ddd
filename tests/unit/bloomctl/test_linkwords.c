/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said of a link that was away. */
#include <string.h>

#include "bloomctl/linkwords.h"
#include "support/cmocka.h"

static void must_be(uint64_t away, bool back, const char *words)
{
	const struct xb_link link = {.away = away, .back = back};
	char text[LINK_TEXT];

	assert_string_equal(link_words(&link, text), words);
}

TEST(words)
{
	must_be(2412345, true, "the link was away for 2.4 s");
	must_be(100000, true, "the link was away for 0.1 s");
	must_be(99000, true, "the link was away for 99 ms");
	must_be(10000123, false, "the link is still away after 10.0 s");
}
