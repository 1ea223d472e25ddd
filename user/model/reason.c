/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/reason.h"

static const struct {
	const char *name, *meaning;
} reasons[] = {
#define X(symbol, name, verdict, meaning) [XB_##symbol] = {name, meaning},
	XB_REASONS(X)
#undef X
};

const char *xb_reason_name(unsigned int reason)
{
	return reason < XB_REASON_COUNT ? reasons[reason].name : "unknown";
}

const char *xb_reason_meaning(unsigned int reason)
{
	return reason < XB_REASON_COUNT ? reasons[reason].meaning : "";
}

bool xb_reason_is_over_limit(unsigned int reason)
{
	return reason == XB_LIMITED || reason == XB_OVER_TRUNCATED;
}

const char *xb_reason_verdict(unsigned int reason)
{
	return xb_reason_drops(reason) ? "drop" : xb_reason_answers(reason) ? "answer" : "pass";
}
