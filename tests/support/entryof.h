/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries as tests write them. */
#ifndef XB_TESTS_ENTRYOF_H
#define XB_TESTS_ENTRYOF_H

#include <string.h>

#include "model/entry.h"
#include "support/cmocka.h"

/* '!' in front: on the allowlist. A domain is good until the next call. */
static inline struct xb_entry entry_of(const char *text)
{
	static uint8_t form[XB_NAME_BYTES];
	bool allow = *text == '!';
	struct xb_entry entry;

	text += allow;
	assert_int_equal(xb_entry_parse(text, strlen(text), form, &entry, NULL), 0);
	return allow ? xb_entry_allow(&entry) : entry;
}

static inline bool entry_is_among(const struct xb_entry *entries, size_t count,
				  const struct xb_entry *entry)
{
	for (size_t i = 0; i < count; i++)
		if (!xb_entry_compare(&entries[i], entry))
			return true;
	return false;
}

#endif
