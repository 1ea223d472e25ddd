/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/advice.h"

const char *advice_words(enum xb_advice advice)
{
	switch (advice) {
	case XB_ADVICE_NAME_FORMAT:
		return "; --format names the right one, --lines takes lines as they are";
	case XB_ADVICE_FORMAT:
		return " with --format, or --lines takes lines as they are";
	default:
		return "";
	}
}
