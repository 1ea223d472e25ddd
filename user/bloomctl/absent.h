/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a del did not find, and what covers it all the same. */
#ifndef XB_CLI_ABSENT_H
#define XB_CLI_ABSENT_H

#include <jansson.h>

#include "model/entry.h"
#include "store/store.h"

/*
 * Makes the message for an entry that a del did not find: which entry covers it, in which lists,
 * and what to do about that. list: where it was looked for, NULL: in all of its side. Returns 1.
 */
int absent_error(struct xb_txn *txn, const struct xb_entry *entry, const char *list);

/* For an entry that a del has just taken out: which wider one still covers it, and what to do, in
 * words; NULL: none does. */
json_t *absent_cover(struct xb_txn *txn, const struct xb_entry *entry);

#endif
