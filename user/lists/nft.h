/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nft: what nft writes of its sets as text, and of all that it has loaded as JSON. */
#ifndef XB_LISTS_NFT_H
#define XB_LISTS_NFT_H

#include <jansson.h>
#include <string.h>

#include "lists/format.h"
#include "lists/span.h"

#define XB_NFT_NAME 256		      /* bytes, terminator included */
#define XB_NFT_PATH (3 * XB_NFT_NAME) /* "FAMILY TABLE SET" */

/* Which set of a file without rules is read; all zero is the beginning. */
struct xb_nft_chosen {
	char path[XB_NFT_PATH]; /* of the first that counts */
};

/*
 * Whether the set, which has elements, is the one to read: the chosen one, by its name or with
 * family and table in front, or the only one. An input error as that of xb_sets_take(), or if the
 * chosen name is that of two.
 */
int xb_nft_counts(struct xb_reading *reading, struct xb_nft_chosen *chosen, const char *path,
		  bool *counts);

/*
 * "192.0.2.1", "192.0.2.0/24" or "192.0.2.1-192.0.2.9". *mapped: it is an address of the form
 * ::ffff:192.0.2.1, which is the source of no packet.
 */
int xb_nft_address(struct xb_listfile *file, const char *text, struct xb_span *span, bool *mapped);

/* --- JSON --- */

/* A value as nft writes it: a text as above, {"prefix": {"addr": "192.0.2.0", "len": 24}} or
 * {"range": ["192.0.2.1", "192.0.2.9"]}. */
int xb_nft_value(struct xb_listfile *file, const json_t *value, struct xb_span *span, bool *mapped);

/* What {"elem": {"val": VALUE, "timeout": 60, "expires": 50, "comment": "why"}} says of its value.
 */
struct xb_nft_element {
	const json_t *value;
	const char *comment; /* "" if there is none */
	uint32_t timeout;    /* seconds that it has left, 0: any number */
	bool timed;	     /* it says so itself */
	bool conditional;    /* it has a limit, or something unknown */
};

/* A value that is not wrapped is its own. */
struct xb_nft_element xb_nft_unwrap(const json_t *element);

/* The time of an element or set in seconds, at least 1; 0 if it is NULL, or so long that it means
 * none. */
uint32_t xb_nft_seconds(const json_t *value);

/* Text at the key, "" if there is none. */
static inline const char *xb_nft_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key)) ?: "";
}

static inline bool xb_nft_is(const json_t *value, const char *text)
{
	return json_is_string(value) && !strcmp(json_string_value(value), text);
}

#define XB_NFT_ONE_SET "`nft list set FAMILY TABLE SET` writes one set"

/* An input error about something with that name, which a whole ruleset would have. */
int xb_nft_refuse(struct xb_reading *reading, const char *what, const char *name);

/* Calls the function for each object of a ruleset, with its kind. */
int xb_nft_for_each(struct xb_reading *reading, const json_t *objects, void *context,
		    int (*take)(void *context, const char *kind, const json_t *object));

/* Judges a ruleset by its chains and rules. */
int xb_nft_judge(struct xb_reading *reading, const json_t *objects);

/* Whether the document is one of `nft -j`. */
bool xb_nft_is_ruleset(const json_t *root);

/* Takes such a document: judges its rules, or reads its set if it has none. */
int xb_nft_take(struct xb_reading *reading, const json_t *root);

#endif
