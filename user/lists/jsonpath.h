/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where in a JSON document the addresses are. */
#ifndef XB_LISTS_JSONPATH_H
#define XB_LISTS_JSONPATH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XB_JSON_STEPS 32 /* of a path */
#define XB_JSON_PATHS 8
#define XB_JSON_WORD  128 /* bytes of a name or value, terminator included */

enum xb_json_how {
	XB_JSON_KEY,  /* name: the value of this key */
	XB_JSON_EACH, /* []: each element of an array, each value of an object */
	XB_JSON_ONLY, /* [name=value]: of these the objects whose key has that value */
};

struct xb_json_step {
	enum xb_json_how how;
	char name[XB_JSON_WORD], value[XB_JSON_WORD];
};

struct xb_json_path {
	struct xb_json_step step[XB_JSON_STEPS];
	size_t steps;
};

struct xb_json_paths {
	struct xb_json_path path[XB_JSON_PATHS];
	size_t count;
};

/*
 * Paths with commas between them, such as "prefixes[].ip_prefix,prefixes[].ipv6_prefix". A name
 * that has one of the characters .,[]=" in it stands in double quotes; a dot may stand in front;
 * "." alone is the document. Returns 0 or an input error.
 */
int xb_json_paths_parse(const char *text, struct xb_json_paths *paths);

/* Only says whether they are right. */
int xb_json_paths_check(const char *text);

#define XB_JSON_AT 256

struct xb_json_walk {
	const struct xb_json_path *path;
	int (*take)(json_t *value, void *context);
	void *context;
	char at[XB_JSON_AT]; /* where the value is, or what ended the walk; as messages have it */
	bool fits;	     /* the document has what the path says, be it an array of nothing */
};

/*
 * Calls `take` for each value that the path leads to; where a key is missing or its value null,
 * there is none. An error if a step does not fit what is there, or of `take`, which ends it.
 */
int xb_json_path_walk(struct xb_json_walk *walk, json_t *root);

/* Appends a step to the text of a path: a key, in quotes if need be, or "[]" with NULL. */
void xb_json_path_append(char *path, size_t room, const char *key);

#endif
