/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A property of lists, such as the verdict: shows it, and what of it is on trial. */
#ifndef XB_CLI_PROPERTY_H
#define XB_CLI_PROPERTY_H

#include "bloomctl/ontrial.h"

/* A word may be in `room`, which has space for the longest. */
#define PROPERTY_WORD XB_SCOPE_TEXT

struct property {
	const char *name, *plural; /* the verb's and in JSON */
	const char *operands;	   /* of the verb, in words: "a list and ..." */
	const char *value;	   /* in words, with an article if it needs one */
	const char *(*stored)(const struct xb_list *list, char room[PROPERTY_WORD]);
	/* What is on trial for the list of this name; NULL: nothing is. */
	const char *(*ontrial)(const struct ontrial *ontrial, const char *list,
			       char room[PROPERTY_WORD]);
};

/* How such a verb begins: without a value it shows the property of the list, or those of all lists
 * that have it. Returns the exit code, or -1: at argv[optind] stands a list that can be filled, and
 * behind it a value. */
int property_begin(struct cli *cli, int argc, char **argv, const struct option_spec *options,
		   const struct property *property);

#endif
