/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which phase a change belongs to, and which phases have sources in common. */
#include "filter/phase.h"

bool xb_phase_has(enum xb_phase phase, const struct xb_change *change)
{
	uint32_t came = change->after & ~change->before, left = change->before & ~change->after;

	if (xb_entry_is_allow(&change->entry))
		return phase == (change->what == XB_LISTED ? XB_PHASE_ALLOW : XB_PHASE_DISALLOW);
	if (change->entry.kind == XB_NAME && change->what == XB_ALTERED)
		return phase == XB_PHASE_LIST || phase == XB_PHASE_UNLIST;
	return (phase == XB_PHASE_LIST && came) || (phase == XB_PHASE_UNLIST && left);
}

/* Whether it has its place in a phase before this one. */
static bool is_earlier(enum xb_phase phase, const struct xb_change *change)
{
	for (enum xb_phase one = 0; one < phase; one++)
		if (xb_phase_has(one, change))
			return true;
	return false;
}

/* An address that changes its class stands in two places; the verdict of a name is one word. */
static bool moves(const struct xb_change *change)
{
	return change->what == XB_ALTERED && change->entry.kind != XB_NAME;
}

static bool touch(const struct xb_entry *a, const struct xb_entry *b)
{
	return xb_entry_inside(a, b) || xb_entry_inside(b, a);
}

/* Comparing more takes longer than to wait for the packets. */
#define LOOKS_MAX 2000000

/* Whether one of this side touches one of the other: earlier changes, and those of the phase. */
static bool sides_touch(const struct xb_changes *changes, enum xb_phase phase,
			bool (*one_side)(enum xb_phase, const struct xb_change *),
			bool (*other_side)(enum xb_phase, const struct xb_change *))
{
	for (size_t i = 0; i < changes->count; i++) {
		const struct xb_change *one = &changes->change[i];

		for (size_t j = 0; one_side(phase, one) && j < changes->count; j++)
			if ((j != i || moves(one)) && other_side(phase, &changes->change[j]) &&
			    touch(&one->entry, &changes->change[j].entry))
				return true;
	}
	return false;
}

bool xb_phase_meets_earlier(const struct xb_changes *changes, enum xb_phase phase)
{
	size_t now = 0, earlier = 0;

	for (size_t i = 0; i < changes->count; i++) {
		now += xb_phase_has(phase, &changes->change[i]);
		earlier += is_earlier(phase, &changes->change[i]);
	}
	if (!now || !earlier)
		return false;
	if ((now < earlier ? now : earlier) * changes->count > LOOKS_MAX)
		return true;
	return now < earlier ? sides_touch(changes, phase, xb_phase_has, is_earlier)
			     : sides_touch(changes, phase, is_earlier, xb_phase_has);
}
