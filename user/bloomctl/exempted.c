/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomctl/exempted.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"

void exempted_note(const struct xb_exemptions *exemptions)
{
	char listed[XB_ENTRY_TEXT], allowed[XB_ENTRY_TEXT], more[64] = "";
	const struct xb_entry same = xb_entry_allow(&exemptions->listed);

	if (!exemptions->count)
		return;
	xb_entry_format(&exemptions->listed, listed);
	xb_entry_format(&exemptions->allowed, allowed);
	if (exemptions->count > 1)
		snprintf(more, sizeof(more), "; %" PRIu64 " more are like it",
			 exemptions->count - 1);
	if (!xb_entry_compare(&same, &exemptions->allowed))
		xb_notice("%s will not be dropped: it is on the allowlist (%s)%s", listed,
			  exemptions->why, more);
	else if (exemptions->allowed.length < exemptions->listed.length)
		xb_notice("%s will not be dropped: %s is on the allowlist (%s)%s", listed, allowed,
			  exemptions->why, more);
	else
		xb_notice("%s will not be dropped, though %s covers it: it is on the "
			  "allowlist (%s)%s",
			  allowed, listed, exemptions->why, more);
}
