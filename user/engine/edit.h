/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of add and del: which list an entry goes to, when it is renewed, what is refused. */
#ifndef XB_ENGINE_EDIT_H
#define XB_ENGINE_EDIT_H

#include "base/arena.h"
#include "engine/absence.h"
#include "engine/context.h"
#include "store/exempt.h"

/* What is to be done, whatever the entries are. The texts stay the caller's. */
struct xb_edit_terms {
	bool add;	  /* false: del */
	bool exist;	  /* what is there already, or is absent, is not refused */
	bool allow;	  /* of the allowlist */
	bool force;	  /* also what is too wide */
	const char *list; /* NULL: "default" or "allow" for add, every list for del */
	const char *comment;
	uint32_t timeout; /* seconds, 0: none */
	uint32_t id;	  /* of the list, since xb_edit_begin() */
};

/* All zero but the terms is one without entries. */
struct xb_edit {
	struct xb_edit_terms terms;
	struct xb_entry *entries; /* on the side that the terms say */
	size_t count, room;
	struct xb_arena names; /* of entries */
};

enum xb_edit_why {
	XB_EDIT_TOO_WIDE,  /* reason: of xb_too_wide() */
	XB_EDIT_REPEATED,  /* named twice */
	XB_EDIT_NO_LIST,   /* there is no list to take anything out of */
	XB_EDIT_LISTED,	   /* it is in the list already */
	XB_EDIT_AUTOMATIC, /* the machine allows it: kind, reason */
	XB_EDIT_ABSENT,	   /* absence */
};

/*
 * Why a function returned XB_EDIT_REFUSED, without a message. It is good until the transaction
 * changes or ends, and so are the entries. The caller frees it then, and only then.
 */
#define XB_EDIT_REFUSED 1
struct xb_edit_refusal {
	enum xb_edit_why why;
	struct xb_entry entry; /* unless XB_EDIT_NO_LIST */
	const char *list;      /* the one that the terms mean; NULL: every list */
	const char *reason;    /* not terminated */
	size_t reason_size;
	const char *kind; /* of lifelines */
	struct xb_absence absence;
};
void xb_edit_refusal_free(struct xb_edit_refusal *refusal);

/* What a del took out. */
struct xb_edit_removed {
	const struct xb_entry *entry;
	struct xb_list_names lists; /* that had it */
	struct xb_cover cover;	    /* what still covers it */
};

/* What came of it. All zero is nothing. */
struct xb_edit_result {
	uint64_t added, renewed, removed, unchanged, absent;
	bool itemizes; /* set by the caller: a del says what it took out */
	struct xb_edit_removed *item;
	size_t count, room;
	struct xb_exemptions exempt; /* of what xb_edit_all() added */
};
void xb_edit_result_free(struct xb_edit_result *result);

/* Takes an entry into the edit. 0, XB_EDIT_REFUSED, or an error with its message. */
int xb_edit_take(struct xb_edit *edit, const struct xb_entry *entry,
		 struct xb_edit_refusal *refusal);

/* After the last of them: whether one entry is there twice, of which the second would be refused
 * for what the first one did. Returns the same. */
int xb_edit_check(const struct xb_edit *edit, struct xb_edit_refusal *refusal);
void xb_edit_free(struct xb_edit *edit);

/* Inside a write transaction: makes or finds the list, before any of its entries is applied.
 * Returns the same. */
int xb_edit_begin(struct xb_writer *writer, struct xb_edit_terms *terms,
		  struct xb_edit_refusal *refusal);

/* One entry, counted in the result. Returns the same; what is refused changes nothing. */
int xb_edit_apply(struct xb_writer *writer, const struct xb_edit_terms *terms,
		  const struct xb_entry *entry, struct xb_edit_result *result,
		  struct xb_edit_refusal *refusal);

/* All of it, from an empty result: the body of a write. Returns the same; what came before an entry
 * that is refused is in the transaction, for the caller to give up. The result's entries are those
 * of the edit. */
int xb_edit_all(struct xb_writer *writer, struct xb_edit *edit, struct xb_edit_result *result,
		struct xb_edit_refusal *refusal);

#endif
