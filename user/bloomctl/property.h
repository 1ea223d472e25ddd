/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A property of lists, such as the verdict: shows it, and what of it is on trial. */
#ifndef XB_CLI_PROPERTY_H
#define XB_CLI_PROPERTY_H

#include "bloomctl/tried.h"

/* A word may be in `room`, which has space for the longest. */
#define PROPERTY_WORD XB_SCOPE_TEXT

struct property {
	const char *name, *plural; /* in JSON */
	const char *(*stored)(const struct xb_list *list, char room[PROPERTY_WORD]);
	/* What is on trial for the list of this name; NULL: nothing is. */
	const char *(*tried)(const struct tried *tried, const char *list, char room[PROPERTY_WORD]);
};

/* The one of a list, or with NULL those of all lists that have it; returns the exit code. */
int property_show(const struct cli *cli, const struct property *property, const char *list);

#endif
