/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the format of a file, and passes the lines to it. */
#ifndef XB_LISTS_TABLE_H
#define XB_LISTS_TABLE_H

#include "lists/format.h"

/* The names of the formats, for messages: "plain, ...". */
const char *xb_listfile_formats(void);

/* Chooses the format by name. An unknown name is an input error that lists the names. */
int xb_listformat_choose(struct xb_reading *reading, const char *name);

/* The name of the format; NULL while it is unknown. */
const char *xb_listformat_name(const struct xb_reading *reading);

/* Checks what was chosen besides the format, and chooses the format that it asks for. */
int xb_listformat_begin(struct xb_reading *reading);

/*
 * Takes what the line says into reading->file. line: size bytes and a NUL, without line end; it may
 * be cut up. reading->file->lines: its number, from 1.
 */
int xb_listformat_take(struct xb_reading *reading, char *line, size_t size);

/*
 * Whether the file is a document, in which lines mean nothing. xb_listformat_take() may find that
 * out by a line, of which it then takes nothing: that line and all behind it go to
 * xb_listformat_add().
 */
bool xb_listformat_is_document(const struct xb_reading *reading);

/* Whether it is a document of bytes, which go to xb_listformat_add() from the first on. */
bool xb_listformat_is_binary(const struct xb_reading *reading);

/* While the format is unknown, before the first line: whether a file that begins with these bytes
 * is such a document. */
#define XB_LIST_LOOK 512 /* bytes that are enough, if the file has as many */
void xb_listformat_look(struct xb_reading *reading, const char *bytes, size_t size);

/* Whether an error at the end of the file is one of the line that it ends in. */
bool xb_listformat_ends_at_line(const struct xb_reading *reading);

#define XB_LIST_TEXT_BYTES (1 << 30) /* of a document */
int xb_listformat_add(struct xb_reading *reading, const char *bytes, size_t size);

/* After the last line: sorts the items, and lets the format look at all of them. */
int xb_listformat_finish(struct xb_reading *reading);

void xb_listformat_end(struct xb_reading *reading);

#endif
