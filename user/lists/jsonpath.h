/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where in a JSON document the addresses are. */
#ifndef XB_LISTS_JSONPATH_H
#define XB_LISTS_JSONPATH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lists/addresstext.h"
#include "lists/condition.h"

#define XB_JSON_STEPS	   32 /* of a path */
#define XB_JSON_PATHS	   8
#define XB_JSON_CONDITIONS 8   /* of a path */
#define XB_JSON_WORD	   128 /* bytes of names, a terminator behind each */

/* Keys one below the other: a.b */
struct xb_json_keys {
	char names[XB_JSON_WORD];
	size_t used, count;
};

struct xb_json_step {
	struct xb_json_keys key;  /* none: [], each element of an array, each value of an object */
	size_t first, conditions; /* of these only those that meet all: [a.b=x|y,c>=5] */
};

struct xb_json_path {
	struct xb_json_step step[XB_JSON_STEPS];
	size_t steps;
	struct {
		struct xb_json_keys keys;
		struct xb_condition condition;
	} where[XB_JSON_CONDITIONS];
	size_t conditions;
	enum xb_pair pair;	    /* of the last key and one beside it */
	struct xb_json_keys second; /* that one */
};

struct xb_json_paths {
	struct xb_json_path path[XB_JSON_PATHS];
	size_t count;
};

/*
 * Paths with commas between them, such as "prefixes[].ip_prefix,routes[].ip/mask". A name that has
 * one of the characters .,[]=!<>/+" in it stands in double quotes; a dot may stand in front; "."
 * alone is the document. Returns 0 or an input error.
 */
int xb_json_paths_parse(const char *text, struct xb_json_paths *paths);

/* Only says whether they are right. */
int xb_json_paths_check(const char *text);

#define XB_JSON_AT 256

struct xb_json_walk {
	const struct xb_json_path *path;
	int (*take)(json_t *value, json_t *second, void *context); /* second: of a pair, or NULL */
	void *context;
	json_t *second;
	char at[XB_JSON_AT]; /* where the value is, or what ended the walk; as messages have it */
	bool fits;	     /* the document has what the path says, be it an array of nothing */
};

/*
 * Calls `take` for each value that the path leads to; where a key is missing or its value null,
 * there is none. An object in the place of an array is its one element, if it has the key that
 * follows. An error if a step does not fit what is there, or of `take`, which ends it.
 */
int xb_json_path_walk(struct xb_json_walk *walk, json_t *root);

/* Appends a step to the text of a path: a key, in quotes if need be, or "[]" with NULL; behind a
 * mark of a pair no dot. */
void xb_json_path_append(char *path, size_t room, const char *key);

/* A text, a number or a truth value as text. False: it is something else, or has no room. */
bool xb_json_scalar(const json_t *value, char *text, size_t room);

#endif
