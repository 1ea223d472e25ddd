/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/advice.h"

static bool lists_have_another;

void advice_for(const struct verb *verb)
{
	lists_have_another = option_known(verb->options, "list-format");
}

const char *advice_words(enum xb_advice advice)
{
	switch (advice) {
	case XB_ADVICE_NAME_FORMAT:
		return lists_have_another
			       ? "; --list-format names the right one, --lines takes lines as they "
				 "are"
			       : "; --format names the right one, --lines takes lines as they are";
	case XB_ADVICE_FORMAT:
		return lists_have_another
			       ? " with --list-format, or --lines takes lines as they are"
			       : " with --format, or --lines takes lines as they are";
	case XB_ADVICE_SET:
		return " with --set";
	case XB_ADVICE_PLACES:
		return " (--country, --not-country, --continent, --asn, --mmdb-path)";
	default:
		return "";
	}
}
