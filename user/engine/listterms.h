/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdicts, scopes and origins of all lists, set anew by a text that is restored. */
#ifndef XB_ENGINE_LISTTERMS_H
#define XB_ENGINE_LISTTERMS_H

#include <jansson.h>

#include "store/store.h"

/* What the lists had before, by their place in the transaction. */
struct xb_list_terms {
	struct xb_former *former;
	size_t count;
};

/* In a write transaction of which the changes are in bulk: all lists drop, and for every packet.
 * Returns 0 or an error with its message; xb_list_terms_free() in each case. */
int xb_list_terms_begin(struct xb_list_terms *terms, struct xb_txn *txn);

/* A line with "list" and with any of "verdict", "scope" and "origins". */
int xb_list_terms_line(struct xb_txn *txn, const json_t *line);

/* Behind the last line: gives lists their classes. A list that is as it was keeps the one it had,
 * so that its statistics go on. */
int xb_list_terms_end(const struct xb_list_terms *terms, struct xb_txn *txn);

void xb_list_terms_free(struct xb_list_terms *terms);

#endif
