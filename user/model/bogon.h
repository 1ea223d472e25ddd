/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries that no list should hold by accident: addresses that belong to nobody on the Internet,
 * and prefixes and domains that are too wide. */
#ifndef XB_MODEL_BOGON_H
#define XB_MODEL_BOGON_H

#include "model/entry.h"

#define XB_WIDEST4 8  /* shortest IPv4 prefix that is taken without doubt */
#define XB_WIDEST6 16 /* shortest IPv6 prefix that is taken without doubt */

/*
 * Why the entry is too wide to be meant, or NULL: a prefix shorter than XB_WIDEST4 or XB_WIDEST6,
 * or a domain of one label, which may be a whole top-level domain. For listed and allowed entries.
 */
const char *xb_too_wide(const struct xb_entry *entry);

/*
 * Why the entry must not be imported by accident, in a few words ("private (RFC 1918)"), or NULL:
 * it lies in a special-purpose range, or is too wide. One that is long enough and merely covers
 * such a range is no bogon.
 */
const char *xb_bogon(const struct xb_entry *entry);

#endif
