/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The JSON in which the local API of CrowdSec streams decisions. */
#ifndef XB_FETCH_DECISIONS_H
#define XB_FETCH_DECISIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "fetch/record.h"

/* Takes one record; false ends the reading. */
typedef bool decisions_take(void *context, const struct fetch_record *record);

/*
 * Reads {"new": [...], "deleted": [...]}, either of which may be null, and hands over what bans
 * addresses or no longer does. Counts the others of the new ones: they do not stop the reading.
 * Returns NULL, or what is wrong with the text: it is no such JSON, or not the whole of it. Records
 * may have been handed over by then.
 */
const char *decisions_read(const char *text, size_t size, decisions_take *take, void *context,
			   struct fetch_left_out *left_out);

/*
 * Reads an answer that was kept in a file, and writes its head and records into another, which is
 * empty. *bytes: how many it wrote. Returns NULL, or what is wrong.
 */
const char *decisions_convert(int from, int to, uint64_t *bytes);

#endif
