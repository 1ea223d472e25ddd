/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats list files come in: what one line says. listfile.h reads the lines. */
#ifndef XB_CORE_LISTFORMAT_H
#define XB_CORE_LISTFORMAT_H

#include "listfile.h"

#define XB_LIST_LINE_BYTES 4096 /* at most, without the line end */

struct xb_list_set;
struct xb_list_format;

/* A file while it is read. All zero but for `file` is a beginning. */
struct xb_reading {
	struct xb_listfile *file;
	const struct xb_list_format *format; /* NULL: told by the first line that is one */
	struct xb_list_set *sets;	     /* of ipset */
	size_t set_count, set_room;
};

/* By name; an input error that lists the names otherwise. */
int xb_listformat_choose(struct xb_reading *reading, const char *name);

/* Of the format; NULL while none is known. */
const char *xb_listformat_name(const struct xb_reading *reading);

/*
 * Takes what the line says into reading->file. line: size bytes and a NUL, without line end; it may
 * be cut up. reading->file->lines: its number, from 1.
 */
int xb_listformat_take(struct xb_reading *reading, char *line, size_t size);

void xb_listformat_end(struct xb_reading *reading);

#endif
