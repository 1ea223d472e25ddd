/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the store share: an open store, and a transaction in it. */
#ifndef XB_STORE_TYPES_H
#define XB_STORE_TYPES_H

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/scope.h"
#include "store/changes.h"
#include "store/digest.h"
#include "store/leaf.h"
#include "store/meta.h"

#define XB_SHARE_PUBLISH 1U
#define XB_SHARE_FOLLOW	 2U
#define XB_SHARE_JOINED	 4U /* was resynced since it is followed, so its state is the fleet's */
#define XB_SHARES_MAX	 64

/* A shared list. It has members and digest also while it has no entries. */
struct xb_share {
	char list[65];
	uint32_t flags;
	struct xb_digest digest; /* of all memberships that the store has, expired ones too */
};

struct xb_shared_event;

/* Of a transaction: the shared lists, and what has changed in them. All zero unless the store has
 * the schema of a fleet. */
struct xb_shares {
	struct xb_share *item; /* XB_SHARES_MAX of them */
	size_t count;
	uint64_t changed;	       /* a bit for each that is not as the table has it */
	uint64_t last_number;	       /* in the outbox */
	bool counted;		       /* the count or the number is not as the table has it */
	bool applies;		       /* changes come from the fleet */
	bool met;		       /* something in the outbox may go with the commit */
	bool misses;		       /* as xb_outbox_misses() said */
	struct xb_shared_event *event; /* changes to publish, in order; see store/sharing.h */
	size_t event_count, event_room;
	struct xb_arena bytes; /* of the events */
};

/*
 * Of the file that a list was replaced by, while the list is what the file says: nothing has come
 * or gone since, no entry expires, and nothing was left out. All zero: there is none, or the list
 * has changed.
 */
struct xb_imprint {
	uint64_t key[2], hash[2]; /* SipHash of how the file was read and of what came out of it,
				     unpacked; the key is random */
	uint64_t bytes, lines, repeats, allowed, exceptions; /* as struct xb_listfile has them */
	uint32_t has_names;				     /* 1: the list has domains */
	char format[20];				     /* the name of the format */
};
_Static_assert(sizeof(struct xb_imprint) == 96, "store format");

struct xb_list {
	uint32_t id;
	uint32_t verdict; /* enum xb_domain_verdict; to addresses only XB_DOMAIN_COUNT matters */
	uint32_t class;	  /* 1 to XB_CLASSES - 1, or XB_CLASS_ALL: scope all, and it drops */
	uint64_t members;
	uint64_t exceptions;	      /* of the members: names that the list lets pass */
	const struct xb_scope *scope; /* NULL: all; owned by the transaction */
	struct xb_share *share;	      /* NULL: the list is not shared */
	char name[65];
	bool stored;	 /* the table had it when the transaction began, with the values below */
	bool reassigned; /* scope, class or imprint are not what the table has */
	struct xb_imprint imprint;
	uint32_t came, went, expired, renewed; /* members, in this transaction */
	uint32_t origins;		       /* a bit for each, see store/origins.h */
	uint32_t stored_verdict, stored_origins;
	uint64_t stored_members, stored_exceptions;
};

/* An entry in a list. Times are seconds since 1970, up to 2106. */
struct xb_membership {
	uint32_t list; /* identity of the list */
	uint32_t added;
	uint32_t expires; /* 0: never */
	uint32_t comment_size;
	const char *comment; /* UTF-8, not terminated; owned by the transaction when read from it */
};

struct xb_list_index {
	uint32_t *slot;
	size_t room; /* a power of two */
};

struct xb_store {
	MDB_env *env;
	MDB_dbi meta, leaves, lists, expiry, ifaces, changes, sessions;
	MDB_dbi fleet, outbox, waiting, tail; /* valid with has_fleet, see store/fleettable.h */
	bool has_fleet;
	bool read_only;			 /* on a file system that cannot be written */
	int namespace_lock, out_writers; /* -1: not held */
	uint64_t opening;		 /* of all that this process made, the number of this one */
};

/* The part of the table that a transaction changes, kept in memory until it turns to another part.
 */
struct xb_entries {
	struct xb_leaf leaf; /* what is in the table from `low` to right before `high` */
	uint8_t low[XB_LEAF_KEY_MAX], high[XB_LEAF_KEY_MAX];
	size_t low_size, high_size;   /* high_size 0: to the end */
	bool open, changed, stored;   /* stored: the table has a record of it */
	uint8_t key[XB_LEAF_KEY_MAX]; /* asked for last */
	size_t key_size;
	MDB_cursor *cursor; /* of the table; its position is not kept */
	uint64_t version;   /* counts changes of this structure, so that scans notice them */
};

/* A transaction: a snapshot to read, or the one that writes. `change` has all its changes of
 * entries, in order. */
struct xb_txn {
	struct xb_store *store;
	MDB_txn *txn;
	bool writes;	/* no snapshot */
	uint64_t edits; /* counts what a commit has to keep */
	uint32_t as_of; /* memberships that have expired by this time are hidden, see
			   xb_expiry_overlook(); 0: none is */
	struct xb_entries entries;
	struct xb_meta meta;
	uint64_t next_mark; /* of a write: the mark of the next sequence number */
	bool noted;	    /* a setting changed, see xb_journal_note() */
	bool makes_fleet;   /* makes the tables of a fleet, which are there only with its commit */
	struct xb_shares shares;
	struct xb_list *lists;
	size_t list_count, list_room;
	struct xb_list_index by_name, by_id;
	struct xb_arena scopes; /* of the lists */
	uint32_t classes; /* a bit for each class that a list has, or had in this transaction */
	struct xb_changes change;
};

#endif
