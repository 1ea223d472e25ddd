/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomctl/linkwords.h"

#include <stdio.h>

const char *link_words(const struct xb_link *link, char text[LINK_TEXT])
{
	double seconds = (double)link->away / 1e6;

	if (!link->back)
		snprintf(text, LINK_TEXT, "the link is still away after %.1f s", seconds);
	else if (link->away < 100000)
		snprintf(text, LINK_TEXT, "the link was away for %.0f ms", seconds * 1000);
	else
		snprintf(text, LINK_TEXT, "the link was away for %.1f s", seconds);
	return text;
}
