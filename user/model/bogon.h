/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What no list should name by accident: addresses that are nobody's on the Internet, prefixes and
 * domains too wide to be meant. */
#ifndef XB_MODEL_BOGON_H
#define XB_MODEL_BOGON_H

#include "model/entry.h"

#define XB_WIDEST4 8  /* shortest IPv4 prefix that is believed */
#define XB_WIDEST6 16 /* shortest IPv6 prefix that is believed */

/*
 * Why the entry is wider than anybody lists without meaning it, or NULL: shorter than XB_WIDEST4 or
 * XB_WIDEST6, or a domain of one label, perhaps a whole top-level domain. Of either side.
 */
const char *xb_too_wide(const struct xb_entry *entry);

/*
 * Why the entry must not be imported by accident, in a few words ("private (RFC 1918)"), or NULL:
 * it lies in a special-purpose range, or is too wide. One that is long enough and merely covers
 * such a range is no bogon.
 */
const char *xb_bogon(const struct xb_entry *entry);

#endif
