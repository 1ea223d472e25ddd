/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Policies by name. */
#include "model/policy.h"

#include <string.h>

#include "base/error.h"
#include "base/program.h"

static const char *const names[] = {
	[XB_POLICY_ENFORCE] = "enforce",
	[XB_POLICY_MONITOR] = "monitor",
	[XB_POLICY_ALLOW_ONLY] = "allow-only",
};

#define COUNT (sizeof(names) / sizeof(names[0]))

const char *xb_policy_name(uint32_t policy)
{
	return policy < COUNT ? names[policy] : "unknown";
}

int xb_policy_parse(const char *text, uint32_t *policy)
{
	for (uint32_t i = 0; i < COUNT; i++) {
		if (!strcmp(text, names[i])) {
			*policy = i;
			return 0;
		}
	}
	return xb_input_error("unknown policy '%s': enforce, monitor or allow-only", text);
}

int xb_policy_check(uint32_t policy, bool confirm)
{
	if (policy != XB_POLICY_ALLOW_ONLY || confirm)
		return 0;
	return xb_input_error(
		"allow-only needs the exact look-up%s, or sources that are not listed would pass",
		xb_advice(XB_ADVICE_CONFIRM));
}
