/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/verdict.h"

#include <string.h>

#include "base/error.h"

static const char *const names[] = {
	[XB_DOMAIN_DROP] = "drop",	   [XB_DOMAIN_REFUSED] = "refused",
	[XB_DOMAIN_NXDOMAIN] = "nxdomain", [XB_DOMAIN_TRUNCATE] = "truncate",
	[XB_DOMAIN_COUNT] = "count",
};
_Static_assert(sizeof(names) / sizeof(names[0]) == XB_DOMAIN_VERDICTS, "a name for each");

const char *xb_domain_verdict_name(uint32_t verdict)
{
	return verdict < XB_DOMAIN_VERDICTS ? names[verdict] : "unknown";
}

int xb_domain_verdict_parse(const char *text, uint32_t *verdict)
{
	for (uint32_t i = 0; i < XB_DOMAIN_VERDICTS; i++) {
		if (!strcmp(text, names[i])) {
			*verdict = i;
			return 0;
		}
	}
	return xb_input_error("unknown verdict '%s': drop, refused, nxdomain, truncate or count",
			      text);
}

bool xb_domain_verdict_answers(uint32_t verdict)
{
	return verdict == XB_DOMAIN_REFUSED || verdict == XB_DOMAIN_NXDOMAIN ||
	       verdict == XB_DOMAIN_TRUNCATE;
}
