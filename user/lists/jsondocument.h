/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON documents of a text, one or several behind each other. Each is held in memory while it is
 * read, so its depth and its memory have bounds. */
#ifndef XB_LISTS_JSONDOCUMENT_H
#define XB_LISTS_JSONDOCUMENT_H

#include <jansson.h>

#include "lists/format.h"

/*
 * Gives each to `take` while file->lines is the line that it begins in; afterwards, that is the
 * line that the text ends in. Returns 0, an input error, or what `take` returned, which ended it.
 */
int xb_json_documents(struct xb_reading *reading, const char *text, size_t size,
		      int (*take)(json_t *root, void *context), void *context);

#endif
