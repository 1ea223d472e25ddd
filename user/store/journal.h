/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log of changes for people: who changed which lists and settings, when, and how much. The
 * newest XB_JOURNAL_MOST records are kept; each is committed with the change that it tells of. */
#ifndef XB_STORE_JOURNAL_H
#define XB_STORE_JOURNAL_H

#include "base/author.h"
#include "store/types.h"

#define XB_JOURNAL_MOST	 4096
#define XB_JOURNAL_LISTS 8 /* of one record; what others have had is one sum, without a name */

struct xb_journal_list {
	char name[65]; /* "": all others */
	uint32_t came, went, expired, renewed;
};

struct xb_journal_record {
	uint64_t number; /* the first ever is 1; each has the next one */
	uint32_t when;	 /* seconds since 1970 */
	struct xb_author author;
	struct xb_journal_list list[XB_JOURNAL_LISTS + 1];
	uint32_t lists;
};

/* A setting changed, too, which no list tells: the commit writes a record in any case. */
void xb_journal_note(struct xb_txn *txn);

/* Part of a commit: writes the record of the transaction, if it changed lists or noted something.
 * 0, or an error with its message. */
int xb_journal_append(struct xb_txn *txn);

/* The number of the newest record; 0: there is none. */
int xb_journal_last(struct xb_txn *txn, uint64_t *number);

/* Calls back for each record from this number on, the oldest first; a value other than 0 ends this
 * and is returned. Negative: an error with its message. */
int xb_journal_visit(struct xb_txn *txn, uint64_t from,
		     int (*visit)(const struct xb_journal_record *record, void *context),
		     void *context);

#endif
