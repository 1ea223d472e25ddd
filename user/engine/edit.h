/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of add and del: to which list an entry goes, when it is renewed, when it is refused. */
#ifndef XB_ENGINE_EDIT_H
#define XB_ENGINE_EDIT_H

#include "base/arena.h"
#include "engine/absence.h"
#include "engine/context.h"
#include "store/exempt.h"

/* What to do with the entries. The caller owns the texts. */
struct xb_edit_terms {
	bool add;   /* false: del */
	bool exist; /* accepts entries to add that are there, and entries to delete that are not */
	bool allow; /* on the allowlist */
	bool force; /* accepts entries that are too wide */
	const char *list; /* NULL: "default" or "allow" for add, every list for del */
	const char *comment;
	uint32_t timeout; /* seconds, 0: none */
	bool lasts;	  /* without a timeout, takes away that of an entry that is there */
	bool within;	  /* of a del: the entry stands for all that lies in it, and itself */
	uint32_t id;	  /* of the list; set by xb_edit_begin() */
};

/* Begin with the terms, and all else zero: no entries. */
struct xb_edit {
	struct xb_edit_terms terms;
	struct xb_entry *entries; /* listed or allowed, as the terms say */
	size_t count, room;
	struct xb_arena names; /* of the entries */
};

enum xb_edit_why {
	XB_EDIT_TOO_WIDE,  /* reason: of xb_too_wide() */
	XB_EDIT_REPEATED,  /* it is in the edit twice */
	XB_EDIT_NO_LIST,   /* there is no list of this name to delete from */
	XB_EDIT_LISTED,	   /* it is in the list already */
	XB_EDIT_AUTOMATIC, /* it is a lifeline, allowed automatically: kind, reason */
	XB_EDIT_ABSENT,	   /* there is no such entry: absence */
	XB_EDIT_VOID,	   /* with within: nothing lies in it */
};

/*
 * A function that returns XB_EDIT_REFUSED records no message, and says here why it refused. The
 * refusal is valid until the transaction changes or ends, or the entries go. The caller frees it
 * after XB_EDIT_REFUSED, and only then.
 */
#define XB_EDIT_REFUSED 1
struct xb_edit_refusal {
	enum xb_edit_why why;
	struct xb_entry entry; /* unless XB_EDIT_NO_LIST */
	const char *list;      /* of the terms, or its default; NULL: every list */
	const char *reason;    /* not terminated */
	size_t reason_size;
	const char *kind; /* of lifelines */
	struct xb_absence absence;
};
void xb_edit_refusal_free(struct xb_edit_refusal *refusal);

/* An entry that a del removed. */
struct xb_edit_removed {
	const struct xb_entry *entry;
	struct xb_list_names lists; /* from which it was removed */
	struct xb_cover cover;	    /* the entry that still covers it */
};

/* The outcome of an edit; all zero before the first. With within, items are those of the last entry
 * alone. */
struct xb_edit_result {
	uint64_t added, renewed, removed, unchanged, absent;
	bool itemizes; /* set by the caller: fill in item for a del */
	struct xb_edit_removed *item;
	size_t count, room;
	struct xb_entry *inside; /* of the last entry, with within: what lay in it */
	size_t inside_count, inside_room;
	struct xb_arena inside_names;
	struct xb_exemptions exempt; /* of the entries that xb_edit_all() added */
};
void xb_edit_result_free(struct xb_edit_result *result);

/* Copies an entry into the edit. Returns 0, XB_EDIT_REFUSED, or an error with its message. */
int xb_edit_take(struct xb_edit *edit, const struct xb_entry *entry,
		 struct xb_edit_refusal *refusal);

/* After the last xb_edit_take(): refuses an edit that has an entry twice; applied, the second one
 * would be refused because of the first. Does nothing with terms.exist. Returns as above. */
int xb_edit_check(const struct xb_edit *edit, struct xb_edit_refusal *refusal);
void xb_edit_free(struct xb_edit *edit);

/* In a write transaction, before the first entry is applied: finds the list, or for an add creates
 * it, and sets terms->id. Returns as above. */
int xb_edit_begin(struct xb_writer *writer, struct xb_edit_terms *terms,
		  struct xb_edit_refusal *refusal);

/* Adds or deletes one entry, and counts it in the result. Returns as above; an entry that is
 * refused changes nothing. */
int xb_edit_apply(struct xb_writer *writer, const struct xb_edit_terms *terms,
		  const struct xb_entry *entry, struct xb_edit_result *result,
		  struct xb_edit_refusal *refusal);

/* The body of a write: empties the result, begins the edit and applies all of its entries. Returns
 * as above. If an entry is refused, the transaction has the changes of those before it, so the
 * caller gives it up. The result points to the entries of the edit. */
int xb_edit_all(struct xb_writer *writer, struct xb_edit *edit, struct xb_edit_result *result,
		struct xb_edit_refusal *refusal);

#endif
