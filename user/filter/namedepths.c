/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Widening the depths. */
#include "filter/namedepths.h"

static void raise(uint32_t *most, uint32_t to)
{
	if (*most < to)
		__atomic_store_n(most, to, __ATOMIC_RELEASE);
}

void xb_namedepths_list(struct xb_depths *depths, const struct xb_entry *entry)
{
	uint32_t labels = xb_name_labels(entry->name, entry->length);

	if (xb_name_is_exact(entry->name, entry->length)) {
		raise(&depths->exact, labels);
		return;
	}
	if (!depths->first || depths->first > labels)
		__atomic_store_n(&depths->first, labels, __ATOMIC_RELEASE);
	raise(&depths->last, labels);
}

void xb_namedepths_allow(struct xb_depths *depths, const struct xb_entry *entry)
{
	raise(&depths->allowed, xb_name_labels(entry->name, entry->length));
}
