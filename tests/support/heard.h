/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hears what is printed: between hear() and heard() nothing of a stream reaches the terminal, and
 * no assertion may fail, of which nobody would read. */
#ifndef XB_TEST_HEARD_H
#define XB_TEST_HEARD_H

#include <stdio.h>
#include <string.h>

struct hearing {
	FILE **stream, *former;
	char text[4096];
};

/* stream: &stdout or &stderr. */
static inline void hear(struct hearing *hearing, FILE **stream)
{
	hearing->stream = stream;
	hearing->former = *stream;
	memset(hearing->text, 0, sizeof(hearing->text));
	*stream = fmemopen(hearing->text, sizeof(hearing->text), "w");
	if (!*stream)
		*stream = hearing->former;
}

/* What was printed since; it is cut to the room of a page. */
static inline const char *heard(struct hearing *hearing)
{
	if (*hearing->stream != hearing->former)
		fclose(*hearing->stream);
	*hearing->stream = hearing->former;
	return hearing->text;
}

#endif
