/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/origin.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"

static const char *const names[] = {
	[XB_ORIGIN_IMPORT] = "import",	   [XB_ORIGIN_FEED] = "feed",
	[XB_ORIGIN_CROWDSEC] = "crowdsec", [XB_ORIGIN_FLEET] = "fleet",
	[XB_ORIGIN_LIMIT] = "limit",
};
_Static_assert(sizeof(names) / sizeof(names[0]) == XB_ORIGINS, "a name for each");

const char *xb_origin_name(uint32_t origin)
{
	return origin < XB_ORIGINS ? names[origin] : "unknown";
}

int xb_origin_parse(const char *text, uint32_t *origin)
{
	for (uint32_t i = 0; i < XB_ORIGINS; i++) {
		if (!strcmp(text, names[i])) {
			*origin = i;
			return 0;
		}
	}
	return xb_input_error("unknown origin '%s': import, feed, crowdsec, fleet or limit",
			      XB_SHOW(text));
}
