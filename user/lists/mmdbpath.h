/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conditions on what an MMDB database says of a network, by paths to its values. */
#ifndef XB_LISTS_MMDBPATH_H
#define XB_LISTS_MMDBPATH_H

#include "lists/mmdbfile.h"

#define XB_MMDB_CONDITIONS 8
#define XB_MMDB_STEPS	   16
#define XB_MMDB_TEXT_BYTES 512 /* of all of them, terminator included */

struct xb_mmdb_condition {
	const char *step[XB_MMDB_STEPS]; /* keys; "[]": each that a map or an array has */
	size_t steps;
	const char *values; /* texts with `|` between them; NULL: any but false and 0 */
};

struct xb_mmdb_conditions {
	char text[XB_MMDB_TEXT_BYTES]; /* where steps and values point */
	struct xb_mmdb_condition condition[XB_MMDB_CONDITIONS];
	size_t count;
};

/*
 * PATH or PATH=VALUE|VALUE..., several with commas between them, all of which have to hold. A path
 * is keys with dots between them, and `[]` for each element of an array or value of a map, of which
 * one has to hold: "is_vpn", "asn=AS64500|AS64501", "tags[]=scanner". "." alone is any network that
 * the database knows. Returns 0 or an input error.
 */
int xb_mmdb_conditions_parse(const char *text, struct xb_mmdb_conditions *conditions);

/* Only says whether they are right. */
int xb_mmdb_conditions_check(const char *text);

/* Whether they hold for a record. Returns 0, or an input error if it is damaged. */
int xb_mmdb_conditions_hold(const struct xb_mmdb_conditions *conditions,
			    struct xb_mmdb_section *data, uint32_t record, bool *hold);

/* Finds a value by keys with dots between them. */
int xb_mmdb_find(struct xb_mmdb_section *data, uint32_t record, const char *path,
		 struct xb_mmdb_value *value);

/* Writes paths of a record with their values, as many as have room, for a message. */
int xb_mmdb_describe(struct xb_mmdb_section *data, uint32_t record, char *out, size_t room);

#endif
