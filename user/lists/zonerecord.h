/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of zones (RFC 1035, section 5.1), read by ldns. */
#ifndef XB_LISTS_ZONERECORD_H
#define XB_LISTS_ZONERECORD_H

#include <ldns/ldns.h>

/* What a record says, as text without the dot behind names; the caller frees owner and data. */
struct xb_zone_record {
	ldns_rr_type type;
	char *owner;
	char *data; /* its first part, such as an address or a name */
};

/*
 * Reads one record: `owner. 0 IN type data`, with names in data below the origin ("" is the root).
 * Returns 0; -EINVAL without a message: it is no record; or another error with its message.
 */
int xb_zone_record_read(const char *text, const char *origin, struct xb_zone_record *record);

void xb_zone_record_free(struct xb_zone_record *record);

#endif
